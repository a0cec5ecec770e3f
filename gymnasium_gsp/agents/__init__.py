"""The agent: a recipe bound to an environment; seeds, presets, and options written as text."""
