"""Where things lie in the arrays that the compiled search works on; names for every cell, so that no code counts.

`program` says what to run and how far, `tally` counts what was done, a node is one row of int64 cells (values are
float64 seen through the same memory), and an outcome edge is three cells.
"""

# program: the functions to call, as addresses.
STEP, LEGAL, ROOT_SELECT, SELECT, BACKUP, POLICY, VALUE, DECISION_BACKUP = range(8)
# program: where each function's parameters begin in `params`.
ROOT_SELECT_AT, SELECT_AT, BACKUP_AT, POLICY_AT, VALUE_AT, DECISION_BACKUP_AT, LOWER_AT = range(8, 15)
# program: the recipe's choices.
KEY, TARGET, ESTIMATOR, EXPANSION, EVALUATION, SWEEP, RECOMMENDATION, EDGES_KEPT, VARIANCE_KEPT = range(15, 24)
# program: the model's and the rows' sizes.
ACTIONS, WIDTH, KEY_SIZE, STRIDE, COUNTS_AT, Q_AT, HEADS_AT, VARIANCE_AT = range(24, 32)
# program: how far this decision looks.
HORIZON, END, ROLLOUT_END, ROLLOUT_STEPS, ROOT_ELAPSED = range(32, 37)
# program: limits; LONGEST is how many rows or edges one simulation can add.
SIMULATION_LIMIT, STEP_LIMIT, NODE_LIMIT, ROW_CAPACITY, EDGE_CAPACITY, TABLE_MASK, LONGEST, GROWABLE = range(37, 45)
# program: where the cells begin that only the loop of bounds keeps.
BOUNDS_AT = 45
PROGRAM_SIZE = 46

# tally: what this decision has done, and the state of the graph.
SIMULATIONS, MODEL_STEPS, NEW_NODES, NODES, EDGES, GENERATION, ROOT, ROOT_CHANGE, DRAWS, DETAIL = range(10)
# tally: what the loop of bounds counts besides, nodes ever made and the most outcomes of a state and action.
BIRTHS, WIDEST = 10, 11
CAPPED = 12  # 1 once this decision could not store something for want of room
INHERITED = 13  # visits that the root had before this decision
RECOMMENDED = 14  # the action that the last decision recommended
TALLY_SIZE = 15

# How the root has changed since the last decision.
SAME_ROOT, MOVED_ON, RESTARTED = range(3)

# Choices.
BY_STATE, BY_STATE_ELAPSED, BY_PATH = range(3)
SAMPLED_RETURN, CHILD_VALUE = range(2)
RUNNING_MEAN, PRESENT_VALUES = range(2)
LEAF, WHOLE_PATH = range(2)
BY_ROLLOUT, BY_CONSTANT, BY_FUNCTION = range(3)
BEST_VALUE, MOST_VISITS = range(2)

# A node's row: these cells, the key's cells, then counts, values and, where kept, edge heads and variances by action.
VISITS, NODE_VALUE, TAG, FIRST_KEY = range(4)

# What an edge leads to where it is no node.
TERMINAL, UNSTORED = -1, -2
CHILD_OFFSET = 2  # children are stored plus this, so that both fit into unsigned 32 bits

# An edge: child and next edge packed into one cell, how often it was taken, and the sum of its rewards.
EDGE_LINK, EDGE_COUNT, EDGE_REWARD = range(3)
EDGE_SIZE = 3
NO_EDGE = 0  # edges are numbered from 1

# The trail of one simulation: per step the node, the action, what came of it, and the reward.
HOP_NODE, HOP_ACTION, HOP_CHILD, HOP_REWARD = range(4)
HOP_SIZE = 4

# What GROWABLE says: add while there is room; stop for growth in time; stop when the last row is taken.
ADD_WHILE_ROOM, GROWING, LAST_ROOM = range(3)

# How a call of the kernel ends.
DONE, FULL, OUT_OF_STEPS, OUT_OF_NODES, NO_ROOM_FOR_ROOT = range(5)
STEP_FAILED, NO_ACTION, BAD_ACTION, BAD_BACKUP, BAD_VALUE, RAISED, WRONG_DRAWS, BAD_REWARD = range(10, 18)

NO_LIMIT = 1 << 62
