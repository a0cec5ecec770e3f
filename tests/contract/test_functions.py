"""Functions of observations: value_function, policy and prior of `make_agent` and `plan`."""

import math

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from simulator.toys import Corridor

import gymnasium_gsp as gsp
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.exact import backward_induction, enumerate_model

PART = gsp.ingredients
SMALL = {
    "FrozenLake": {"desc": ["SFF", "FHF", "FFG"]},
    "PassengerGrid": {"width": 3, "height": 2, "goal": (2, 0), "passengers": ((1, 1),)},
    "FactoredRiverSwim": {"length": 3, "chains": 2},
    "SysAdminRing": {"machines": 4},
    "FourRooms": {"room_size": 1},
}
STEPS = 6


def corridor(**arguments):
    return gym.wrappers.TimeLimit(Corridor(**arguments), 12)


class Doubled(gym.ObservationWrapper):
    """Shows twice the place."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = spaces.Box(0.0, 100.0, (1,), np.float32)

    def observation(self, observation):
        return np.array([2.0 * observation], np.float32)


def content(observation):
    return np.asarray(observation).tobytes()


def one_step_oracle(env):
    """Exact Q of the root's actions, and the exact values of what one step leads to, by observation."""
    core = env.unwrapped
    model, state = core.compiled_model(), core.clone_state()
    root, left = state.cells, STEPS - state.elapsed
    space = enumerate_model(model, root, left)
    exact = backward_induction(space, left)
    reached = np.unique(space.next_state[space.row < model.actions])
    cells = {number: space.states[number].tolist() for number in reached.tolist()}
    return exact.q_values(root), {content(core.observe(state)): exact.values[1, n] for n, state in cells.items()}


def for_each(function, leaf_batch):
    """A function of one observation, or where there is a batch of several."""
    return function if leaf_batch is None else lambda several: [function(observation) for observation in several]


@pytest.mark.parametrize("leaf_batch", [None, 32])
@pytest.mark.parametrize("entry", BENCHMARKS, ids=lambda entry: entry.name)
def test_exact_values_make_one_step_decisions_exact(entry, leaf_batch):
    """Claim: with V* at the leaves and one step, each Q is the mean of samples whose expectation is the exact Q.

    Sample: 1,500 simulations for each action.  Hoeffding's inequality for values in their range; false alarm 1e-6 over
    all actions and cases, of which there are fewer than 100.  The decision is then optimal up to twice that error.
    """
    env = gym.make(entry.id, horizon=STEPS, **SMALL[entry.name])
    observation, info = env.reset(seed=4)
    exact, values = one_step_oracle(env)
    agent = gsp.make_agent(
        env,
        "uct",
        budget=1500 * len(exact),
        seed=1,
        selection=PART.Balanced(),
        horizon=PART.FixedHorizon(1),
        discount=1.0,
        value_function=for_each(lambda seen: values[content(seen)], leaf_batch),
        leaf_batch=leaf_batch,
    )
    result = agent.plan(observation, info)
    low, high = env.unwrapped.reward_bounds
    spread = high - low + max(values.values()) - min(values.values())
    error = spread * math.sqrt(math.log(2 * 100 / 1e-6) / (2 * 1500))
    assert np.abs(result.q_values - exact).max() <= error
    assert exact[result.action] >= exact.max() - 2 * error


@pytest.mark.parametrize("name", ["FrozenLake", "PassengerGrid", "FourRooms"])
def test_where_nothing_is_random_one_step_is_optimal(name):
    env = gym.make(f"GSP/{name}-v0", horizon=STEPS, slip=0.0, **SMALL[name])
    observation, info = env.reset(seed=4)
    for _ in range(3):
        exact, values = one_step_oracle(env)
        agent = gsp.make_agent(
            env,
            "uct",
            budget=16,
            seed=1,
            horizon=PART.FixedHorizon(1),
            discount=1.0,
            value_function=lambda seen, values=values: values[content(seen)],
        )
        result = agent.plan(observation, info)
        assert result.q_values == pytest.approx(exact, abs=1e-12)
        observation, _, terminated, _, info = env.step(result.action)
        if terminated:
            break


@pytest.mark.parametrize("env_id", [*(entry.id for entry in BENCHMARKS), "CartPole-v1", "Taxi-v4"])
@pytest.mark.parametrize("name", ["uct", "gs-power-uct", "puct", "gumbel"])
def test_a_constant_value_function_is_a_constant(env_id, name, same_result):
    env = gym.make(env_id)
    observation, info = env.reset(seed=1)
    given = {"value_function": lambda seen: 0.25}, {"evaluation": PART.Constant(0.25)}
    exact = {"state_key": "exact"} if env_id == "CartPole-v1" else {}  # cells are chosen beside constants alone
    agents = [gsp.make_agent(env, name, budget=60, seed=2, **exact, **options) for options in given]
    assert same_result(*(agent.plan(observation, info) for agent in agents))


@pytest.mark.parametrize("wrapped", [False, True])
def test_functions_see_what_the_agent_sees(wrapped):
    """In a simulator, wrappers included; the prior of the root that very observation."""
    seen = {"value": [], "policy": [], "prior": []}

    def remember(name, answer):
        return lambda observation: (seen[name].append(observation), answer)[1]

    env = Doubled(corridor()) if wrapped else corridor()
    observation, _ = env.reset(seed=0)
    functions = {"value_function": remember("value", 0.0), "prior": remember("prior", [0.5, 0.5])}
    gsp.make_agent(env, "puct", budget=40, seed=0, **functions).act(observation)
    gsp.make_agent(env, "uct", budget=40, seed=0, policy=remember("policy", [0.5, 0.5])).act(observation)
    assert seen["prior"][0] is observation
    for observed in (*seen["value"], *seen["policy"], *seen["prior"]):
        assert observed in env.observation_space
    assert len({content(observed) for observed in seen["value"]}) > 2


@pytest.mark.parametrize("env_id", ["GSP/SysAdminRing-v0", "GSP/FourRooms-v0", "FrozenLake-v1"])
def test_a_compiled_model_shows_observations_too(env_id):
    env, seen = gym.make(env_id), []
    observation, info = env.reset(seed=0)
    agent = gsp.make_agent(env, "puct", budget=30, value_function=lambda o: seen.append(o) or 0.0, prior=uniform(env))
    agent.act(observation, info)
    assert "simulator" not in agent.describe()["model"]
    assert all(observed in env.observation_space for observed in seen)


def uniform(env):
    return lambda seen: np.ones(env.action_space.n)


def test_a_policy_is_followed_in_playouts():
    """To the right along the corridor, seven steps, for a reward of 1: each action once, then the policy."""
    env = corridor(length=8)
    observation, _ = env.reset(seed=0)
    agent = gsp.make_agent(env, "uct", budget=2, seed=0, policy=lambda place: [0.0, 1.0], discount=0.5)
    result = agent.plan(observation)
    assert result.q_values.tolist() == [0.5**7, 0.5**6]


def test_a_policy_is_sampled_in_proportion():
    """Claim: actions have the policy's probabilities.  About 2,000 steps; normal bound at 5 standard errors, 1e-6."""

    def step(params, state, action, rng, reward):
        reward[0] = 1.0 if action == 2 else 0.0
        return 1

    model = gsp.CompiledModel(step, 3)
    recipe = gsp.Recipe(horizon=PART.FixedHorizon(1), key="path")
    result = gsp.plan(model, 0, recipe, 40, seed=3, steps_left=50, policy=lambda state: [2.0, 1.0, 1.0])
    returns = result.q_values - np.array([0.0, 0.0, 1.0])
    mean = (returns * result.visit_counts).sum() / 40 / 49
    assert abs(mean - 0.25) < 5 * math.sqrt(0.25 * 0.75 / (40 * 49))


def test_masks_hold_in_a_policy():
    env = gym.make("GSP/Sailing-v0", size=6)
    observation, info = env.reset(seed=0)
    agent = gsp.make_agent(env, "uct", budget=30, seed=0, policy=lambda seen: np.ones(env.action_space.n))
    assert np.isfinite(agent.plan(observation, info).value)


@pytest.mark.parametrize("leaf_batch", [None, 1, 32])
@pytest.mark.parametrize("name", ["puct", "gumbel"])
@pytest.mark.parametrize("env_id", ["GSP/FrozenLake-v0", "CartPole-v1"])
def test_the_same_seed_gives_the_same(name, env_id, leaf_batch, same_result):
    """And a batch of one gives what no batch gives."""
    env = gym.make(env_id)
    observation, info = env.reset(seed=1)
    actions = env.action_space.n

    def value(seen):
        return math.sin(float(np.sum(seen)))

    def prior(seen):
        return np.arange(1.0, actions + 1.0)

    def plan(batch):
        functions = {"value_function": for_each(value, batch), "prior": for_each(prior, batch)}
        return gsp.make_agent(env, name, budget=80, seed=3, leaf_batch=batch, **functions).plan(observation, info)

    assert same_result(plan(leaf_batch), plan(leaf_batch))
    if leaf_batch == 1:
        assert same_result(plan(1), plan(None))


def test_plan_gives_functions_the_state(random_model):
    seen = []
    gsp.plan(
        random_model(0), 0, "puct", 20, seed=0, steps_left=4, value_function=lambda state: seen.append(state) or 0.0
    )
    assert {type(state) for state in seen} == {int}


def test_a_planning_wrapper_passes_functions_on():
    env = gsp.PlanningWrapper(
        corridor(length=4), "puct", seed=0, budget=60, value_function=float, prior=lambda _: [1, 2]
    )
    env.reset(seed=0)
    assert env.planned_action() == 1


FAULTS = {
    "value of a wrong shape": ({"value_function": lambda o: np.zeros(2)}, "value_function returned array.*one finite"),
    "value that is NaN": ({"value_function": lambda o: math.nan}, "value_function returned nan for the observation"),
    "value that is no number": ({"value_function": lambda o: "much"}, "value_function returned 'much'"),
    "policy of a wrong length": ({"policy": lambda o: [0.5, 0.25, 0.25]}, "policy returned .*must return 2 numbers"),
    "policy that sums to 0": ({"policy": lambda o: [0.0, 0.0]}, "policy returned .*sum above 0"),
    "policy below 0": ({"policy": lambda o: [-1.0, 2.0]}, "policy returned .*at least 0"),
    "policy that is one action": ({"policy": lambda o: 1}, "policy returned 1 .*must return 2 numbers"),
    "prior of a wrong length": ({"prior": lambda o: np.ones(3)}, "prior returned .*must return 2 numbers"),
    "prior of a wrong shape": ({"prior": lambda o: np.ones((2, 1))}, "prior returned .*must return 2 numbers"),
    "prior that is NaN": ({"prior": lambda o: [math.nan, 1.0]}, "prior returned .*sum above 0"),
    "prior that sums to 0": ({"prior": lambda o: np.zeros(2)}, "prior returned .*sum above 0"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    "make", [corridor, lambda: gym.make("GSP/FactoredRiverSwim-v0", chains=1)], ids=["sim", "compiled"]
)
def test_a_wrong_answer_is_refused_in_words(fault, make):
    """The environment is untouched, and the agent usable again."""
    (given,), words = FAULTS[fault][0].items(), FAULTS[fault][1]
    name, wrong = given
    right = 0.5 if name == "value_function" else [0.5, 0.5]
    faulty = [False]
    env = make()
    observation, _ = env.reset(seed=0)
    stream = env.unwrapped.np_random.bit_generator.state
    function = {name: lambda seen: wrong(seen) if faulty[0] else right}
    agent = gsp.make_agent(env, "uct" if name == "policy" else "puct", budget=30, seed=0, **function)
    agent.plan(observation)
    faulty[0] = True
    agent.reset()
    with pytest.raises(gsp.PlanningError, match=f"(?s){words}"):
        agent.plan(observation)
    faulty[0] = False
    assert agent.plan(observation).simulations == 30
    assert env.unwrapped.np_random.bit_generator.state == stream
    env.step(agent.act(observation))


IN_A_BATCH = {
    "values of a wrong shape": (
        "value_function",
        lambda o: np.zeros(len(o) + 1),
        r"returned array.*must return \d+ finite",
    ),
    "one value for all": ("value_function", lambda o: 0.5, r"value_function returned 0.5.*one for each observation"),
    "values with NaN": ("value_function", lambda o: np.full(len(o), math.nan), "value_function returned array.*finite"),
    "weights of a wrong shape": ("prior", lambda o: np.ones((len(o), 3)), r"prior returned array.*must return"),
    "weights of one": ("prior", lambda o: np.ones((2, len(o))), r"prior returned array.*must return"),
    "weights with a sum of 0": ("prior", lambda o: np.zeros((len(o), 2)), "prior returned array.*sum above 0"),
}


@pytest.mark.parametrize("fault", IN_A_BATCH)
@pytest.mark.parametrize("from_call", [1, 3])
def test_a_wrong_answer_in_a_batch_is_refused_in_words(fault, from_call):
    """Whether it comes with the first call or later, while leaves wait; and the agent is usable again."""
    name, wrong, words = IN_A_BATCH[fault]
    right = {"value_function": lambda o: np.full(len(o), 0.5), "prior": lambda o: np.ones((len(o), 2))}
    calls, faulty = [], [True]

    def asked(several):
        calls.append(several)
        return wrong(several) if faulty[0] and len(calls) >= from_call else right[name](several)

    env = corridor(length=30)
    observation, _ = env.reset(seed=0)
    agent = gsp.make_agent(env, "puct", budget=60, seed=0, leaf_batch=8, **{**right, name: asked})
    with pytest.raises(gsp.PlanningError, match=f"(?s){words}"):
        agent.plan(observation)
    faulty[0] = False
    again = agent.plan(observation)
    fresh = gsp.make_agent(env, "puct", budget=60, seed=0, leaf_batch=8, **right)
    assert again.simulations == 60
    assert again.visit_counts.sum() == fresh.plan(observation).visit_counts.sum()


def test_a_step_that_fails_leaves_no_leaf_behind():
    """What was noted before the failure is not asked about after it."""
    failing, asked = [False], []

    class Failing(Corridor):
        def step(self, action):
            if failing[0] and self.position == 3:
                raise OSError("no such place")
            return super().step(action)

    env = gym.wrappers.TimeLimit(Failing(length=30), 20)
    observation, _ = env.reset(seed=0)
    agent = gsp.make_agent(
        env, "uct", budget=40, seed=0, leaf_batch=32, value_function=lambda o: asked.append(o) or np.zeros(len(o))
    )
    failing[0] = True
    with pytest.raises(OSError, match="no such place"):
        agent.plan(observation)
    failing[0] = False
    asked.clear()
    result = agent.plan(observation)
    assert sum(map(len, asked)) <= result.nodes


def test_one_call_for_several_leaves():
    """Each leaf is asked about once, in as few calls as there are whole batches where enough leaves can be had."""
    sizes = []

    def value(several):
        assert several.dtype == np.float32
        assert several.shape[1:] == (1,)
        sizes.append(len(several))
        return np.zeros(len(several))

    env = Doubled(corridor(length=50, slip=0.5))
    observation, _ = env.reset(seed=0)
    agent = gsp.make_agent(env, "uct", budget=1000, seed=0, leaf_batch=32, value_function=value, c=100.0)
    result = agent.plan(observation)
    assert result.simulations == 1000
    assert max(sizes) == 32
    assert sum(sizes) / len(sizes) > 8.0


class Named(gym.ObservationWrapper):
    """Shows the place under a name, in memory that is written over at each step."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = spaces.Dict({"place": spaces.Box(0, 99, (2,), np.int64), "flag": spaces.Discrete(2)})
        self.shown = np.zeros(2, np.int64)

    def observation(self, observation):
        self.shown[:] = observation
        return {"place": self.shown, "flag": observation % 2}


def test_named_observations_are_stacked_by_name(same_result):
    """And they are copied, as the environment may use its memory again."""
    env = Named(corridor(length=12))
    observation, _ = env.reset(seed=0)

    def one(seen):
        return float(seen["place"][0] + seen["flag"])

    def several(seen):
        assert seen["place"].shape[1:] == (2,)
        return seen["place"][:, 0] + seen["flag"]

    given = ({"value_function": one}, {"value_function": several, "leaf_batch": 1})
    plans = [gsp.make_agent(env, "uct", budget=50, seed=0, **options).plan(observation) for options in given]
    assert same_result(*plans)
    agent = gsp.make_agent(env, "uct", budget=50, seed=0, value_function=several, leaf_batch=16)
    assert agent.plan(observation).visit_counts.sum() == 50


@pytest.mark.parametrize("name", ["value_function", "policy", "prior"])
def test_what_a_function_raises_comes_out_as_it_is(name):
    error, env = KeyError("no such place"), corridor()

    def fails(observation):
        raise error

    observation, _ = env.reset(seed=0)
    agent = gsp.make_agent(env, "uct" if name == "policy" else "puct", budget=30, seed=0, **{name: fails})
    with pytest.raises(KeyError) as caught:
        agent.plan(observation)
    assert caught.value is error


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"value_function": 3}, "value_function must be a function of an observation, not 3"),
        ({"prior": "uniform", "algorithm": "puct"}, "prior must be a function of an observation, not 'uniform'"),
        ({"value_function": float, "policy": float}, "give one evaluation"),
        ({"value_function": float, "evaluation": PART.Constant(1.0)}, "give one evaluation"),
        ({"policy": float, "evaluation": PART.Constant(1.0)}, "policy is followed in a playout"),
        ({"prior": float}, "nothing in this recipe reads a prior: use the algorithm puct"),
        ({"value_function": float, "algorithm": "graft"}, r'optimism, such as graft.*make_agent\(env, "puct"'),
        ({"prior": float, "algorithm": "gbop"}, "prior means nothing to a recipe with optimism"),
        ({"leaf_batch": 8}, r"the evaluation is Rollout\(.*give value_function="),
        ({"leaf_batch": 8, "algorithm": "graft"}, r"the evaluation is Rollout\(.*give value_function="),
        ({"leaf_batch": 8, "policy": float}, "give value_function="),
        ({"leaf_batch": 0, "value_function": float}, "leaf_batch must be .* between 1 and 4096, not 0"),
        ({"leaf_batch": True, "value_function": float}, "leaf_batch must be .* between 1 and 4096, not True"),
        ({"leaf_batch": 2.5, "value_function": float}, "leaf_batch must be .* between 1 and 4096, not 2.5"),
        ({"leaf_batch": 8, "value_function": float, "expansion": "path"}, "simulations wait.*takes expansion='leaf'"),
        (
            {"leaf_batch": 8, "value_function": float, "algorithm": "ments"},
            r"simulations wait.*no backup=SoftValue\(\)",
        ),
        ({"leaf_batch": 8, "value_function": float, "algorithm": "brue"}, "simulations wait.*learning='on_the_trail'"),
    ],
)
def test_functions_that_do_not_fit(options, words):
    with pytest.raises(gsp.RecipeError, match=words):
        gsp.make_agent(corridor(), **{"algorithm": "uct", **options})


@pytest.mark.parametrize("evaluation", [PART.PythonValue(float), PART.Heuristic(lambda p, c, state, r: 0.0)])
def test_functions_of_cells_are_refused_in_a_simulator(evaluation):
    env = corridor()
    observation, _ = env.reset(seed=0)
    agent = gsp.make_agent(env, "uct", budget=9, evaluation=evaluation)
    with pytest.raises(gsp.RecipeError, match=r"internal numbers: write make_agent\(env, \.\.\., value_function=f\)"):
        agent.act(observation)


def test_a_wrapper_that_cannot_be_rebuilt_is_refused_with_functions():
    env = gym.wrappers.TimeAwareObservation(gym.make("CartPole-v1"))
    with pytest.raises(gsp.RecipeError, match="TimeAwareObservation cannot be rebuilt around a simulator"):
        gsp.make_agent(env, "uct", budget=9, value_function=lambda o: 0.0)
