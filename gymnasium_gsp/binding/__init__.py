"""The connection between a planner and an environment: reading its state, simulating it, checking both."""
