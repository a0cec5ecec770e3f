"""Models to plan in: the protocol, models with a compiled step, and models from transition tables."""
