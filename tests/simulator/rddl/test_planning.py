"""make_agent on pyRDDLGym environments: the compiled model by itself, the adapter where a construct is refused."""

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

import gymnasium_gsp as gsp

BUDGET = 60


def test_the_instance_is_compiled_by_itself(instance, play):
    env = instance("SysAdmin_MDP_ippc2011", 1)
    agent = gsp.make_agent(env, budget=BUDGET, seed=0)
    told = agent.describe()
    assert told["model"] == "the RDDL instance, compiled by LLVM"
    assert told["time limit"] == "40 steps"
    assert told["actions"] == "11, of 11 joint ones"
    assert "not compiled" not in told
    idle = instance("SysAdmin_MDP_ippc2011", 1)
    idle.reset(seed=0)
    assert play(env, agent=agent)[0] > sum(idle.step({})[1] for _ in range(40))


def test_a_refused_construct_falls_back_and_says_why(written):
    env = written(("shock = Bernoulli(0.3);", "shock = Normal(0.0, 1.0) > 0.5;"))
    agent = gsp.make_agent(env, budget=3, seed=0)
    told = agent.describe()
    assert told["not compiled"].startswith("the distribution Normal")
    assert "shock" in told["not compiled"]
    assert "private simulator" in told["model"]
    agent.act(*env.reset(seed=0))


def test_where_llvm_fails_numba_takes_over_and_says_so(written, monkeypatch):
    from gymnasium_gsp.models.rddl import model

    monkeypatch.setattr(model, "_llvm_fault", lambda: "LLVM's text is not taken: RuntimeError: a new dialect")
    env = written()
    agent = gsp.make_agent(env, budget=BUDGET, seed=0)
    assert agent.describe()["model"].endswith(
        "compiled by numba (LLVM's text is not taken: RuntimeError: a new dialect)"
    )
    monkeypatch.undo()
    usual = gsp.make_agent(env, budget=BUDGET, seed=0)
    observation, info = env.reset(seed=0)
    assert agent.act(observation, info) == usual.act(observation, info)


def test_a_new_dialect_of_llvm_is_noticed(monkeypatch):
    from gymnasium_gsp.models.rddl import llvm, model

    monkeypatch.setattr(llvm, "module_text", lambda *_: "define nonsense")
    model._llvm_fault.cache_clear()
    assert model._llvm_fault().startswith("LLVM's text is not taken: RuntimeError")
    monkeypatch.undo()
    model._llvm_fault.cache_clear()
    assert model._llvm_fault() is None


def test_masked_actions_are_not_chosen(written):
    """Preconditions hold in every decision, though pyRDDLGym is not asked to enforce them."""
    env = written(enforce_action_constraints=True)
    agent = gsp.make_agent(env, budget=BUDGET, seed=1)
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        ended = False
        while not ended:
            observation, _, terminated, truncated, info = env.step(agent.act(observation, info))
            ended = terminated or truncated


def test_vectorized_environments_get_arrays(instance):
    """The same decisions, as arrays of the action space."""
    plain, arrays = (instance("SysAdmin_MDP_ippc2011", 1) for _ in range(2))
    arrays = type(arrays)(arrays.domain_text, arrays.instance_text, vectorized=True)
    agents = [gsp.make_agent(env, budget=BUDGET, seed=0) for env in (plain, arrays)]
    one, other = (agent.act(*env.reset(seed=0)) for agent, env in zip(agents, (plain, arrays), strict=True))
    assert arrays.action_space.contains(other)
    assert {f"reboot___c{place + 1}": 1 for place in np.flatnonzero(other["reboot"])} == one


def test_planning_leaves_the_environment_alone(written):
    futures = []
    for planning in (True, False):
        env = written()
        agent = gsp.make_agent(env, budget=BUDGET, seed=0) if planning else None
        observation, info = env.reset(seed=4)
        seen = []
        for _ in range(4):
            if agent is not None:
                agent.act(observation, info)
            observation, reward, *_, info = env.step({})
            seen.append((dict(observation), reward))
        futures.append(seen)
    assert futures[0] == futures[1]


def test_an_agent_before_reset_and_with_a_foreign_observation(written):
    env = written()
    agent = gsp.make_agent(env, budget=BUDGET, seed=0)
    with pytest.raises((ResetNeeded, gsp.PlanningError)):
        agent.act({}, {})
    observation, info = env.reset(seed=0)
    other = {**observation, "count": 17}
    with pytest.raises(gsp.PlanningError, match="is not that of the environment"):
        agent.act(other, info)


def test_an_agent_that_is_pickled_compiles_again(written):
    """The copy plans in its own copy of the environment, to the same action."""
    env = written()
    agent = gsp.make_agent(env, budget=BUDGET, seed=0)
    observation, info = env.reset(seed=0)
    copy = cloudpickle.loads(cloudpickle.dumps(agent))
    assert copy._binding._compiled is None
    assert copy.act(observation, info) == agent.act(observation, info)


def test_wrappers_that_change_the_process_take_the_simulator(instance):
    env = instance("Navigation_MDP_ippc2011", 1)
    agent = gsp.make_agent(gym.wrappers.TransformReward(env, lambda reward: 2.0 * reward), budget=3, seed=0)
    assert "private simulator" in agent.describe()["model"]


def test_time_limits_around_the_environment_are_kept(instance):
    env = gym.wrappers.TimeLimit(instance("Navigation_MDP_ippc2011", 1), 7)
    agent = gsp.make_agent(env, budget=3, seed=0)
    assert agent.describe()["time limit"] == "7 steps"
    agent.act(*env.reset(seed=0))


@pytest.mark.filterwarnings("ignore:Action precondition")
def test_a_state_in_which_preconditions_leave_no_action_is_a_sentence(written):
    """Once something has been counted, no action is allowed, and the first decision looks that far."""
    env = written(("=> (~up(?m) | (wear(?m) ~= @low))]", "=> ~up(?m)] ^ (count == 0)"))
    agent = gsp.make_agent(env, budget=8, seed=0)
    with pytest.raises(gsp.PlanningError, match=r"workshop_two_machines: state \(.*\) has no legal action"):
        agent.act(*env.reset(seed=0))


def test_466_joint_actions_are_searched_sensibly(instance):
    """Claim: with 4,000 simulations UCT earns more than random play, whose mean over 10,000 episodes is -326.1 (0.2).

    Every joint action is tried at the root.  Sample: 6 episodes of 40 steps; the mean lies 4.9 standard errors above
    random play's, false alarms 1e-6.
    """
    env = instance("AcademicAdvising_MDP_ippc2014", 10)
    returns = []
    for seed in range(6):
        agent = gsp.make_agent(env, "uct", budget=4_000, seed=seed)
        observation, info = env.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            action = agent.act(observation, info)
            assert (agent.result.visit_counts > 0).all()
            observation, reward, terminated, truncated, info = env.step(action)
            total, ended = total + reward, terminated or truncated
        returns.append(total)
    assert np.mean(returns) > -326.1 + 4.9 * np.std(returns, ddof=1) / np.sqrt(len(returns))
