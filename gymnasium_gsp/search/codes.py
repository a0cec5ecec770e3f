"""Numbers with a name in the records of a search: a recipe's choices, marks, and how a call of the loop ends."""

# Choices of a recipe.
BY_STATE, BY_STATE_ELAPSED, BY_PATH, BY_ACTIONS = range(4)
SAMPLED_RETURN, CHILD_VALUE = range(2)
RUNNING_MEAN, PRESENT_VALUES = range(2)
LEAF, WHOLE_PATH = range(2)
BY_ROLLOUT, BY_CONSTANT, BY_FUNCTION, BY_SAMPLED_TREE = range(4)
ON_THE_TRAIL, AT_THE_SWITCH = range(2)
BEST_VALUE, MOST_VISITS = range(2)

# Where a decision with a root allocation stands.
EXPLORING, BY_GRAPH, BY_SCENARIOS, BY_HALVING = range(4)

# Where a sweep reads the values behind outcomes: the search's own, plain ones, or those with one step less to go.
STORED, PLAIN, ONE_STEP_LESS = range(3)

# How the root has changed since the last decision.
SAME_ROOT, MOVED_ON, RESTARTED = range(3)

# What an edge or a hop leads to where it is no node; where a simulation ends for want of model steps; the end of a list
# of edges.
TERMINAL, UNSTORED = -1, -2
CUT_SHORT = -3
NO_EDGE = 0

# When to stop for growth: never, in time for the longest simulation, or when the last row is taken.
ADD_WHILE_ROOM, GROWING, LAST_ROOM = range(3)

# How a call of the loop ends.
DONE, FULL, OUT_OF_STEPS, OUT_OF_NODES, NO_ROOM_FOR_ROOT = range(5)
STEP_FAILED, NO_ACTION, BAD_ACTION, BAD_BACKUP, BAD_VALUE, RAISED, WRONG_DRAWS, BAD_REWARD, BAD_PRIOR = range(10, 19)

NO_LIMIT = 1 << 62  # of a budget that is not given
