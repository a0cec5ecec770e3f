"""A search looked at: its graph as a value, and the page that shows decisions."""
