"""Agents, and the named algorithms they run; importing this room registers every algorithm."""

from gymnasium_gsp.agents import gs_power_uct, uct

__all__ = ["gs_power_uct", "uct"]
