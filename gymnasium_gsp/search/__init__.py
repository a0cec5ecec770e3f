"""The engine: a graph, one compiled loop over it, and the ingredients that recipes are made of."""
