"""Third-party families, where they are installed: checked, planned in, and left undisturbed."""

import importlib.util

import gymnasium as gym
import pytest

import gymnasium_gsp as gsp


def needs(package):
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"{package} is absent")


def registered(package, env_id, **arguments):
    gym.register_envs(__import__(package))
    return gym.make(env_id, **arguments)


def rddl(domain):
    import pyRDDLGym

    return pyRDDLGym.make(domain, "1")


FAMILIES = {
    "doorkey": ("MiniGrid", lambda: registered("minigrid", "MiniGrid-DoorKey-5x5-v0"), needs("minigrid")),
    "obstacles": ("MiniGrid", lambda: registered("minigrid", "MiniGrid-Dynamic-Obstacles-5x5-v0"), needs("minigrid")),
    "lander": ("LunarLander", lambda: gym.make("LunarLander-v3"), needs("Box2D")),
    "windy lander": ("LunarLander", lambda: gym.make("LunarLander-v3", enable_wind=True), needs("Box2D")),
    "hopper": ("MuJoCo", lambda: gym.make("Hopper-v5"), needs("mujoco")),
    "reacher": ("MuJoCo", lambda: gym.make("Reacher-v5"), needs("mujoco")),
    "humanoid": ("MuJoCo", lambda: gym.make("Humanoid-v5"), needs("mujoco")),
    "sysadmin": ("pyRDDLGym", lambda: rddl("SysAdmin_MDP_ippc2011"), needs("pyRDDLGym")),
    "navigation": ("pyRDDLGym", lambda: rddl("Navigation_MDP_ippc2011"), needs("pyRDDLGym")),
    "elevators": ("pyRDDLGym", lambda: rddl("Elevators_MDP_ippc2011"), needs("pyRDDLGym")),
    "breakout": (
        "ALE",
        lambda: registered("ale_py", "ALE/Breakout-v5"),
        [needs("ale_py"), pytest.mark.slow],
    ),
    "highway": (
        "highway-env",
        lambda: registered("highway_env", "highway-fast-v0", config={"vehicles_count": 3}),
        [needs("highway_env"), pytest.mark.slow],
    ),
}
CASES = [pytest.param(name, make, id=case, marks=marks) for case, (name, make, marks) in FAMILIES.items()]


@pytest.mark.parametrize(("name", "make"), CASES)
def test_a_family_passes_the_check(name, make):
    report = gsp.check_snapshot(make())
    assert report.passed, str(report)
    assert report.adapter.startswith(name)


@pytest.mark.parametrize(("name", "make"), CASES)
def test_planning_leaves_the_real_future_alone(name, make):
    def play(planning):
        env = make()
        agent = gsp.make_agent(env, "uct", budget=gsp.Budget(model_steps=12), seed=0) if planning else None
        observation, info = env.reset(seed=3)
        seen = []
        for _ in range(4):
            if agent:
                agent.act(observation, info)
            actions = env.action_space
            action = {} if isinstance(actions, gym.spaces.Dict) else getattr(actions, "high", 1)
            observation, reward, terminated, truncated, info = env.step(action)
            seen.append(repr((observation, reward, terminated, truncated)))
            if terminated or truncated:
                break
        return seen

    assert play(False) == play(True)


@needs("minigrid")
def test_a_small_room_is_crossed(play):
    env = registered("minigrid", "MiniGrid-Empty-5x5-v0")
    assert play(env, budget=40, name="gs-power-uct-f")[0] > 0.0


@pytest.mark.parametrize(
    ("package", "env_id", "name"),
    [
        pytest.param("minigrid", "MiniGrid-DoorKey-5x5-v0", "gen_obs", marks=needs("minigrid")),
        pytest.param("highway_env", "highway-fast-v0", "observation_type", marks=needs("highway_env")),
    ],
)
def test_a_simulator_stays_spared_of_observing(package, env_id, name):
    env = registered(package, env_id)
    agent = gsp.make_agent(env, "uct", budget=gsp.Budget(model_steps=3), seed=0)
    agent.act(*env.reset(seed=0))
    assert "adapters" in type(getattr(agent._binding.simulator.raw, name)).__module__
    assert "adapters" not in type(getattr(env.unwrapped, name)).__module__


@needs("minigrid")
@pytest.mark.parametrize("name", ["ImgObsWrapper", "FullyObsWrapper", "FlatObsWrapper"])
def test_wrappers_of_a_spared_observation_do_no_harm(name):
    wrappers = importlib.import_module("minigrid.wrappers")
    env = getattr(wrappers, name)(registered("minigrid", "MiniGrid-Empty-5x5-v0"))
    agent = gsp.make_agent(env, "uct", budget=9, seed=0)
    assert env.action_space.contains(agent.act(*env.reset(seed=0)))
    assert gsp.check_snapshot(env).passed


@needs("pyRDDLGym")
def test_a_network_is_kept_running_better_than_without_a_hand(play):
    env = rddl("SysAdmin_MDP_ippc2011")
    env.reset(seed=0)
    idle = sum(env.step({})[1] for _ in range(40))
    assert play(env, budget=8)[0] > idle


@needs("Box2D")
def test_a_lander_gets_the_originals_moon():
    env = gym.make("LunarLander-v3")
    agent = gsp.make_agent(env, "uct", budget=2, seed=0)
    for seed in (1, 2):
        agent.act(*env.reset(seed=seed))
        ours, theirs = agent._binding.simulator.raw.sky_polys, env.unwrapped.sky_polys
        assert [polygon[:2] for polygon in ours] == [polygon[:2] for polygon in theirs]


@needs("Box2D")
@pytest.mark.parametrize("env_id", ["BipedalWalker-v3", "CarRacing-v3"])
def test_other_box2d_environments_are_refused_by_name(env_id):
    env = gym.make(env_id, **({"continuous": False} if env_id.startswith("Car") else {}))
    if not isinstance(env.action_space, gym.spaces.Discrete):
        env = gym.wrappers.TransformAction(env, lambda action: env.action_space.low, gym.spaces.Discrete(2))
    with pytest.raises(gsp.RecipeError, match="EzPickle"):
        gsp.make_agent(env, "uct")
