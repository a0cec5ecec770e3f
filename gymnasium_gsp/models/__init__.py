"""What a planner may ask of the world: models with a compiled step, from tables, or read from a live environment."""
