"""Measuring: runs of an agent in an environment, and what exists to be run."""
