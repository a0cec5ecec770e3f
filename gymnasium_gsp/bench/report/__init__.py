"""The report on a store of episodes: numbers beside the published ones and the optimum, tables, figures, one page."""
