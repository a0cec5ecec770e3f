"""RDDL instances as compiled models: from pyRDDLGym's parsed model to an expression graph, and on to C functions.

`model.compile_instance` is the way in.  Nothing here imports pyRDDLGym; its objects are read as they come.
"""
