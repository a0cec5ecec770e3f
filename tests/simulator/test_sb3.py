"""Models of Stable-Baselines3 as value, policy and prior of a search."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import gymnasium_gsp as gsp

sb3 = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is absent")
torch = pytest.importorskip("torch", reason="torch is absent")


class Pictures(gym.Env):
    """A place shown as a picture."""

    observation_space = spaces.Box(0, 255, (36, 36, 3), np.uint8)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return self.picture(), {}

    def step(self, action):
        self.place += int(action)
        return self.picture(), float(action), self.place == 5, False, {}

    def picture(self):
        shown = np.zeros((36, 36, 3), np.uint8)
        shown[self.place * 6 : self.place * 6 + 6, :, 1] = 200
        return shown


class Named(gym.Env):
    """A place shown as a dictionary."""

    observation_space = spaces.Dict({"place": spaces.Box(0.0, 9.0, (1,), np.float32), "flag": spaces.Discrete(2)})
    action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return self.shown(), {}

    def step(self, action):
        self.place += int(action == 1)
        return self.shown(), float(action), self.place == 5, False, {}

    def shown(self):
        return {"place": np.array([self.place], np.float32), "flag": self.place % 2}


MODELS = {
    "ppo": lambda: sb3.PPO("MlpPolicy", "CartPole-v1", seed=1, device="cpu"),
    "relu": lambda: sb3.PPO(
        "MlpPolicy",
        "CartPole-v1",
        seed=1,
        device="cpu",
        policy_kwargs={"activation_fn": torch.nn.ReLU, "net_arch": {"pi": [32], "vf": [16, 16, 16]}},
    ),
    "elu": lambda: sb3.A2C(
        "MlpPolicy", "CartPole-v1", seed=1, device="cpu", policy_kwargs={"activation_fn": torch.nn.ELU}
    ),
    "a2c": lambda: sb3.A2C("MlpPolicy", "Acrobot-v1", seed=1, device="cpu"),
    "dqn": lambda: sb3.DQN("MlpPolicy", "CartPole-v1", seed=1, device="cpu", buffer_size=10),
    "numbers": lambda: sb3.PPO("MlpPolicy", "Taxi-v4", seed=1, device="cpu"),
    "pictures": lambda: sb3.PPO("CnnPolicy", Pictures(), seed=1, device="cpu"),
    "pictures dqn": lambda: sb3.DQN("CnnPolicy", Pictures(), seed=1, device="cpu", buffer_size=10),
    "dictionary": lambda: sb3.PPO("MultiInputPolicy", Named(), seed=1, device="cpu"),
}
ENVS = {"pictures": Pictures, "pictures dqn": Pictures, "dictionary": Named}


def environment(name, model):
    made = ENVS[name]() if name in ENVS else gym.make(model.get_env().envs[0].spec.id)
    return gym.wrappers.TimeLimit(made, 20) if name in ENVS else made


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    """Name, model and environment."""
    model = MODELS[request.param]()
    return request.param, model, environment(request.param, model)


def test_functions_say_what_the_model_says(case):
    """Value and probabilities as torch computes them, in float32."""
    _, model, env = case
    learned = gsp.from_sb3(model)
    observation, _ = env.reset(seed=3)
    for _ in range(5):
        tensor, _ = model.policy.obs_to_tensor(observation)
        with torch.no_grad():
            if hasattr(model, "q_net"):
                q = model.q_net(tensor)[0].numpy()
                value, weights = q.max(), np.full(len(q), 0.05 / len(q))
                weights[q.argmax()] += 0.95
            else:
                value = model.policy.predict_values(tensor).item()
                weights = model.policy.get_distribution(tensor).distribution.probs[0].numpy()
        assert learned.value_function(observation) == pytest.approx(value, rel=1e-4, abs=1e-5)
        assert learned.prior(observation) == pytest.approx(weights, rel=1e-4, abs=1e-6)
        assert learned.policy(observation).argmax() == model.predict(observation, deterministic=True)[0]
        observation = env.step(env.action_space.sample())[0]
    assert learned.discount == 0.99


def stacked(env, observations):
    """As a vector of environments shows them."""
    out = gym.vector.utils.create_empty_array(env.observation_space, len(observations))
    return gym.vector.utils.concatenate(env.observation_space, observations, out)


def test_several_observations_are_several_answers(case):
    _, model, env = case
    learned = gsp.from_sb3(model)
    seen = [env.reset(seed=3)[0], *(env.step(env.action_space.sample())[0] for _ in range(4))]
    together, one = stacked(env, seen), stacked(env, seen[:1])
    for function in (learned.value_function, learned.prior):
        alone = np.array([function(observation) for observation in seen])
        assert function(together) == pytest.approx(alone, rel=1e-4, abs=1e-5)
        assert function(one).tolist() == alone[:1].tolist()


def test_they_can_be_pickled_as_agents_are(case):
    _, model, env = case
    observation, _ = env.reset(seed=3)
    learned = gsp.from_sb3(model)
    copy = pickle.loads(pickle.dumps(learned))
    assert learned.value_function(observation) == copy.value_function(observation)
    assert learned.policy(observation).tolist() == copy.policy(observation).tolist()


@pytest.mark.parametrize("leaf_batch", [None, 1, 8])
def test_a_search_takes_them(case, leaf_batch):
    """And gives the same with the same seed."""
    _, model, env = case
    learned = gsp.from_sb3(model)
    observation, info = env.reset(seed=3)

    def plan():
        agent = gsp.make_agent(
            env,
            "puct",
            budget=20,
            seed=1,
            value_function=learned.value_function,
            prior=learned.prior,
            discount=learned.discount,
            leaf_batch=leaf_batch,
        )
        return agent.plan(observation, info)

    first = plan()
    assert first.simulations == 20
    assert first.q_values.tolist() == plan().q_values.tolist()


def test_training_further_changes_nothing():
    model = MODELS["ppo"]()
    learned = gsp.from_sb3(model)
    observation = np.array([0.1, 0.2, -0.1, 0.0], np.float32)
    before = learned.value_function(observation)
    model.learn(64)
    assert learned.value_function(observation) == before


def test_normalisation_is_part_of_it():
    vector = sb3.common.vec_env.VecNormalize(sb3.common.vec_env.DummyVecEnv([lambda: gym.make("CartPole-v1")]))
    model = sb3.PPO("MlpPolicy", vector, seed=1, device="cpu", n_steps=64).learn(128)
    observation = np.array([0.1, 0.2, -0.1, 0.0], np.float32)
    tensor, _ = model.policy.obs_to_tensor(vector.normalize_obs(observation))
    scale = np.sqrt(vector.ret_rms.var + vector.epsilon)
    with torch.no_grad():
        expected = scale * model.policy.predict_values(tensor).item()
    value = gsp.from_sb3(model).value_function
    assert value(observation) == pytest.approx(expected, rel=1e-4)
    assert value(np.array([observation] * 3)) == pytest.approx([expected] * 3, rel=1e-4)


def test_a_model_of_another_space_is_refused():
    learned = gsp.from_sb3(MODELS["ppo"]())
    for name in ("value_function", "prior"):
        with pytest.raises(gsp.RecipeError, match=r"trained with observations Box.*and this environment has"):
            gsp.make_agent(gym.make("Acrobot-v1"), "puct", **{name: getattr(learned, name)})
    fewer = gym.wrappers.TransformAction(gym.make("CartPole-v1"), lambda action: 0, spaces.Discrete(1))
    with pytest.raises(gsp.RecipeError, match="use a model trained in it"):
        gsp.make_agent(fewer, "uct", policy=learned.policy)


def test_what_is_no_such_model_is_refused():
    for given in ("ppo.zip", None, MODELS["ppo"]().policy):
        with pytest.raises(gsp.RecipeError, match="from_sb3 takes a trained model of Stable-Baselines3"):
            gsp.from_sb3(given)
    with pytest.raises(gsp.RecipeError, match="such as PPO, A2C or DQN, not SAC"):
        gsp.from_sb3(sb3.SAC("MlpPolicy", "Pendulum-v1", device="cpu", buffer_size=10))
    with pytest.raises(gsp.RecipeError, match="discrete actions, not Box"):
        gsp.from_sb3(sb3.PPO("MlpPolicy", "Pendulum-v1", device="cpu"))


def test_weights_that_are_nowhere_are_refused():
    model = MODELS["ppo"]()
    model.policy.to("meta")
    with pytest.raises(gsp.RecipeError, match=r'on the device meta and cannot be read: .*device="cpu"'):
        gsp.from_sb3(model)
