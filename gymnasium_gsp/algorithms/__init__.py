"""The named algorithms: one file of recipes for each family; importing this room registers every algorithm.

Files are imported in alphabetical order, and `ALGORITHMS` has the algorithms in the order in which they are registered.
"""

import importlib
import pkgutil

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
