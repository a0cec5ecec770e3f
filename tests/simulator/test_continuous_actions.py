"""Actions of several parts and continuous ones: points, masks, and a search that tries more of them as it goes on."""

import math

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from simulator.toys import Throw

import gymnasium_gsp as gsp
from gymnasium_gsp.binding.actions import Actions
from gymnasium_gsp.ingredients import Constant, Widening
from gymnasium_gsp.search.ingredients.widening import spreading_stride

PLANNERS = ("graft", "gs-power-uct-f", "uct", "ments", "brue", "gumbel", "puct")


def every(actions):
    return [actions[number] for number in range(actions.count)]


@st.composite
def boxes(draw):
    shape = draw(st.sampled_from([(), (1,), (2,), (3,), (2, 2), (7,), (20,)]))
    dtype = draw(st.sampled_from([np.float32, np.float64, np.int64, np.uint8]))
    bound = st.integers(0, 200) if dtype == np.uint8 else st.integers(-1000, 1000)
    ends = [sorted((draw(bound), draw(bound))) for _ in range(math.prod(shape))]
    low, high = np.array(ends, float).reshape(-1, 2).T if ends else (np.zeros(1), np.ones(1))
    return spaces.Box(low.reshape(shape).astype(dtype), high.reshape(shape).astype(dtype), shape, dtype)


@given(boxes())
@settings(max_examples=200, deadline=None)
def test_a_grid_that_refines_lies_in_the_space_and_begins_with_its_centre(space):
    points = every(Actions(space))
    assert all(space.contains(point) and point.dtype == space.dtype for point in points)
    assert len({point.tobytes() for point in points}) == len(points) <= 33
    centre = (space.low.astype(float) + space.high.astype(float)) / 2
    np.testing.assert_allclose(points[0], np.rint(centre) if space.dtype.kind in "iu" else centre, rtol=1e-6)


@given(boxes(), st.integers(2, 4))
@settings(max_examples=100, deadline=None)
def test_a_grid_of_so_many_points_holds_the_corners_of_the_space(space, size):
    if size ** math.prod(space.shape) > 1024:
        with pytest.raises(gsp.RecipeError, match=r"at most 1,024"):
            Actions(space, points=size)
        return
    points = every(Actions(space, points=size))
    assert all(space.contains(point) and point.dtype == space.dtype for point in points)
    assert len(points) <= size ** math.prod(space.shape)
    assert any(np.array_equal(point, space.low) for point in points)
    assert any(np.array_equal(point, space.high) for point in points)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 6, 17])
def test_coarse_points_come_first_and_every_dimension_meets_its_bounds_soon(dimensions):
    points = np.array(every(Actions(spaces.Box(-1.0, 1.0, (dimensions,)))))
    coarse = points[: min(33, 3**dimensions)]
    assert set(coarse.reshape(-1).tolist()) == {-1.0, 0.0, 1.0}
    assert len(points) == 33
    for axis in range(dimensions):
        assert set(points[:12, axis]) >= {-1.0, 1.0}
    if dimensions == 1:
        np.testing.assert_allclose(np.sort(points[:, 0]), np.linspace(-1.0, 1.0, 33))
        np.testing.assert_allclose(np.sort(points[:5, 0]), np.linspace(-1.0, 1.0, 5))


def test_numbers_of_points_may_differ_between_dimensions():
    points = every(Actions(spaces.Box(np.float32([0, -1]), np.float32([1, 1])), points=[2, 3]))
    assert np.array(points).tolist() == [[0, -1], [0, 0], [0, 1], [1, -1], [1, 0], [1, 1]]


SPACES = (
    spaces.MultiDiscrete([3]),
    spaces.MultiDiscrete([2, 3, 2], start=[0, 5, -1]),
    spaces.MultiDiscrete([[2, 3], [1, 2]]),
    spaces.MultiBinary(1),
    spaces.MultiBinary(4),
    spaces.MultiBinary((2, 2)),
)


def a_mask(space, draw):
    """A mask as `sample` of the space takes it; components without any legal value included."""
    if isinstance(space, spaces.MultiBinary):
        return draw.integers(3, size=space.shape).astype(np.int8)

    def masks(sizes):
        return tuple(
            draw.integers(2, size=int(size)).astype(np.int8) if np.ndim(size) == 0 else masks(size) for size in sizes
        )

    return masks(space.nvec)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_every_joint_action_has_one_number(space):
    actions = every(Actions(space))
    assert all(space.contains(action) for action in actions)
    sizes = space.nvec if isinstance(space, spaces.MultiDiscrete) else np.full(space.shape, 2)
    assert len({action.tobytes() for action in actions}) == len(actions) == np.prod(sizes)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_masks_allow_what_the_space_samples_under_them(space):
    """Claim: the actions that a mask allows are those that `sample(mask)` draws.  200 samples each of 40 masks."""
    space.seed(1)
    actions, draw = Actions(space), np.random.default_rng(0)
    for _ in range(40):
        mask = a_mask(space, draw)
        allowed = {actions[number].tobytes() for number in np.flatnonzero(actions.flat_mask(mask)).tolist()}
        drawn = {space.sample(mask=mask).tobytes() for _ in range(200)}  # of at most 16: one is missed in 1e-4 of masks
        assert drawn == allowed


@pytest.mark.parametrize("space", [spaces.MultiDiscrete([2, 3]), spaces.MultiBinary(2)], ids=str)
def test_masks_of_components_reach_the_search(space):
    class Masked(gym.Env):
        action_space, observation_space = space, spaces.Discrete(6)

        def told(self):
            draw = np.random.default_rng(self.place)
            return self.place, {"action_mask": a_mask(space, draw)}

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.place = 0
            return self.told()

        def step(self, action):
            allowed = {space.sample(mask=self.told()[1]["action_mask"]).tobytes() for _ in range(100)}
            assert action.tobytes() in allowed
            self.place += 1
            return self.place, float(np.sum(action)), self.place == 5, False, self.told()[1]

    env = gym.wrappers.TimeLimit(Masked(), 5)
    agent = gsp.make_agent(env, "uct", budget=20, seed=0)
    observation, info = env.reset(seed=0)
    ended = False
    while not ended:
        observation, _, ended, _, info = env.step(agent.act(observation, info))


def test_masks_of_the_wrong_size_are_a_sentence():
    with pytest.raises(ValueError, match=r"the components have \[2, 3\] values, and their masks \[2, 2\]"):
        Actions(spaces.MultiDiscrete([2, 3])).flat_mask((np.ones(2), np.ones(2)))
    with pytest.raises(ValueError, match="0, 1, or 2"):
        Actions(spaces.MultiBinary(3)).flat_mask(np.int8([0, 3, 1]))


def decisions(name, budget=60, seed=3, space=None, **options):
    """Actions and results of an episode."""
    env = gym.wrappers.TimeLimit(Throw(space), 3)
    agent = gsp.make_agent(env, name, budget=budget, seed=seed, **options)
    observation, info = env.reset(seed=0)
    taken = []
    for _ in range(3):
        action = agent.act(observation, info)
        taken.append((action, agent.result))
        observation, _, _, _, info = env.step(action)
    return taken


@pytest.mark.parametrize("name", PLANNERS)
def test_planners_return_elements_of_the_space_the_same_for_a_seed(name):
    space = spaces.Box(np.float32([-1, -2]), np.float32([1, 2]))
    first, again = (decisions(name, space=space, seed=5) for _ in range(2))
    for (action, result), (action_again, result_again) in zip(first, again, strict=True):
        assert space.contains(action)
        assert action.dtype == np.float32
        np.testing.assert_array_equal(action, action_again)
        np.testing.assert_array_equal(result.q_values, result_again.q_values)


@pytest.mark.parametrize("name", [name for name in PLANNERS if name != "gumbel"])  # which draws the root's by a prior
def test_a_node_tries_as_many_actions_as_its_visits_allow(name):
    for budget in (1, 10, 100, 400):
        result = decisions(name, budget)[0][1]
        tried, visits = np.flatnonzero(result.visit_counts), int(result.visit_counts.sum())
        allowed = min(33, math.ceil(3.0 * visits**0.33))
        assert tried.max() < allowed
        if name not in ("ments", "brue", "puct"):  # which need not try every action
            least = visits // 2 if name == "graft" else visits  # half of its simulations are greedy
            assert len(tried) >= min(least, allowed - 1)


@pytest.mark.parametrize("name", ["graft", "gs-power-uct-f"])
def test_more_budget_throws_nearer(name):
    """The best of 3 coarse points is 0.3 away from the first target, the best of 33 within 1/32."""
    for budget, nearest in ((3, 0.31), (600, 0.07)):
        action, result = (
            decisions(name, budget, evaluation=Constant())[0] if name != "graft" else decisions(name, budget)[0]
        )
        assert abs(action[0] - 0.3) < nearest
        assert result.name(result.action) == f"{action[0]:.4g}"


def test_a_number_of_points_is_a_plain_grid():
    env = Throw()
    agent = gsp.make_agent(env, "uct", budget=40, seed=0, actions=5)
    agent.act(*env.reset(seed=0))
    assert (agent.result.visit_counts > 0).all()
    assert agent.result.action_names == ("-1", "-0.5", "0", "0.5", "1")
    assert agent.recipe.widening is None
    assert agent.describe()["actions"] == "5 points of Box(-1.0, 1.0, (1,), float32), actions=5"


def test_the_choice_is_described_and_can_be_replayed():
    env = Throw()
    agent = gsp.make_agent(env, budget=40, seed=0)
    assert agent.describe()["actions"] == "33 points of Box(-1.0, 1.0, (1,), float32), coarse ones first"
    assert agent.describe()["recipe"]["widening"] == str(Widening(3.0, 0.33))
    default = decisions("graft")
    same = decisions("graft", widening=Widening(3.0, 0.33))
    other = decisions("graft", widening=Widening(2.0, 0.1))
    assert [result.visit_counts.tolist() for _, result in default] == [
        result.visit_counts.tolist() for _, result in same
    ]
    assert np.count_nonzero(other[0][1].visit_counts) <= 4


@pytest.mark.parametrize("name", ["graft", "uct", "gs-power-uct-f"])
def test_discrete_actions_widen_where_it_is_asked_for(name):
    env = gym.make("GSP/SysAdminRing-v0", machines=20)
    agent = gsp.make_agent(env, name, budget=36, seed=0, widening=Widening(1.0, 0.5), retention="decision")
    result = agent.plan(*env.reset(seed=0))
    tried = np.flatnonzero(result.visit_counts)
    assert 4 <= len(tried) <= math.ceil(result.visit_counts.sum() ** 0.5)
    assert np.ptp(tried) >= 10  # spread over the numbers, not the first ones


def test_every_action_has_its_turn_in_the_order_of_a_node():
    for actions in range(1, 200):
        stride = spreading_stride(actions)
        assert len({(7 + step * stride) % actions for step in range(actions)}) == actions


def test_more_actions_than_simulations_are_said_once(recwarn):
    env = gym.make("GSP/SysAdminRing-v0", machines=20)
    warned = []
    for options in ({}, {"widening": Widening()}, {"budget": 64}):
        recwarn.clear()
        agent = gsp.make_agent(env, "uct", **{"budget": 8, "seed": 0, **options})
        agent.act(*env.reset(seed=0))
        warned.append([str(each.message) for each in recwarn])
    assert len(warned[0]) == 1
    assert "GSP/SysAdminRing-v0 has 21 actions, and a decision fewer simulations" in warned[0][0]
    assert "widening=Widening()" in warned[0][0]
    assert warned[1:] == [[], []]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_vectors_of_continuous_environments(kind):
    wrapped = [gsp.PlanningWrapper] if kind == "async" else None
    envs = gym.make_vec("Pendulum-v1", 2, kind, wrappers=wrapped)
    agent = gsp.make_vector_agent(envs, "uct", budget=5, seed=0, actions=3)
    actions = agent.act(*envs.reset(seed=0))
    assert envs.action_space.contains(actions)
    assert agent.describe()[0]["actions"].endswith("actions=3")
    envs.close()


def test_a_wrapper_rescales_what_is_planned():
    env = gym.wrappers.RescaleAction(gym.make("Pendulum-v1"), -1.0, 1.0)
    agent = gsp.make_agent(env, "uct", budget=5, seed=0)
    assert env.action_space.contains(agent.act(*env.reset(seed=0)))
    assert "RescaleAction" in agent.describe()["wrappers rebuilt"]
