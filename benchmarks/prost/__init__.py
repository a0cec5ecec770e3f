"""PROST, winner of the planning competitions of 2011 and 2014, beside the planners of the package."""
