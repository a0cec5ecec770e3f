"""How a planner is bound to a live environment: reading its state, simulating it, checking both."""
