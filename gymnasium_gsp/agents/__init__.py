"""Agents, and the named algorithms they run; importing this room registers every algorithm."""

from gymnasium_gsp.agents import brue, classic, gbop, gs_power_uct, ments, olop, sparse_sampling, uct

__all__ = ["brue", "classic", "gbop", "gs_power_uct", "ments", "olop", "sparse_sampling", "uct"]
