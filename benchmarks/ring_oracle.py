"""Regret in SysAdminRing: importing this module adds its oracle, which `gsp bench` and `gsp run` do without.

With 20 machines each process spends some seconds on making it.
"""

from gymnasium_gsp.exact.regret import ORACLES
from gymnasium_gsp.exact.sysadmin import SysAdminValues

ORACLES["SysAdminRing"] = lambda model, start, steps, discount: SysAdminValues(model, steps, discount)
