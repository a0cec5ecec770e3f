"""Policies that Stable-Baselines3 has trained, as functions of observations for a search.

The network of an MLP policy is taken out once and evaluated by NumPy: that takes some microseconds, where
`model.predict` takes some hundreds.  Other networks, such as CNNs, go through torch, one observation at a time.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gymnasium_gsp.errors import RecipeError

Network = Callable[[Any], NDArray[np.float32]]
"""A function of an observation that returns a network's outputs; of several observations, stacked, one row for each."""

Layer = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Weights and bias of a linear layer."""


@dataclass(frozen=True)
class SB3Function:
    """A function of an observation, or of several stacked ones, that knows the spaces it was trained in."""

    function: Callable[[Any], Any]
    observation_space: spaces.Space
    action_space: spaces.Space

    def __call__(self, observation: Any) -> Any:
        """The function's answer."""
        return self.function(observation)

    def check_spaces(self, observation_space: spaces.Space, action_space: spaces.Space) -> None:
        """Compare the spaces with those of an environment.

        Raises:
            RecipeError: where they differ.
        """
        seen = (observation_space, _channels_first(observation_space))
        if self.action_space != action_space or self.observation_space not in seen:
            raise RecipeError(
                f"the model was trained with observations {self.observation_space} and actions {self.action_space}, "
                f"and this environment has {observation_space} and {action_space}: use a model trained in it"
            )


@dataclass(frozen=True)
class LearnedFunctions:
    """What a trained model knows, for `make_agent`.

    Attributes:
        value_function: of an observation, the discounted return that the policy expects from there.
        policy: of an observation, the probability of each action.
        discount: per step, with which the values were learned; give it as `discount=` beside them.
    """

    value_function: SB3Function
    policy: SB3Function
    discount: float

    @property
    def prior(self) -> SB3Function:
        """The policy, as a prior."""
        return self.policy


def from_sb3(model: Any) -> LearnedFunctions:
    """Take value, policy and prior out of a model of Stable-Baselines3.

    An agent takes them as options::

        learned = gsp.from_sb3(PPO.load("lander"))
        agent = gsp.make_agent(env, "puct", budget=128, value_function=learned.value_function, prior=learned.prior,
                               discount=learned.discount)

    The weights are copied: training the model further changes nothing here.  Where the model was trained in a
    `VecNormalize` that it still holds, observations are normalised and values scaled back as there.

    Args:
        model: a model with discrete actions: PPO, A2C or another actor-critic without memory; or DQN, whose value is
            the largest Q-value and whose policy is epsilon-greedy with its final epsilon.

    Raises:
        RecipeError: for any other model, and where the weights cannot be read.
    """
    trained: Any = getattr(model, "policy", None)
    actor_critic = all(hasattr(trained, name) for name in ("mlp_extractor", "action_net", "value_net"))
    if not hasattr(model, "gamma") or not (actor_critic or hasattr(trained, "q_net")) or hasattr(trained, "lstm_actor"):
        raise RecipeError(
            "from_sb3 takes a trained model of Stable-Baselines3 without memory, such as PPO, A2C or DQN, not "
            f"{type(model).__name__}: for any other, give make_agent functions of an observation"
        )
    if not isinstance(model.action_space, spaces.Discrete):
        raise RecipeError(f"from_sb3 takes a model with discrete actions, not {model.action_space}")
    try:
        # Made anew, as torch copies no module that holds what it has last computed.
        policy = type(trained)(**trained._get_constructor_parameters())
        policy.load_state_dict({name: weights.detach().cpu() for name, weights in trained.state_dict().items()})
    except (NotImplementedError, RuntimeError) as error:
        raise RecipeError(
            f"the weights of the model are on the device {trained.device} and cannot be read: {error}. Load the model "
            'with device="cpu"'
        ) from error
    policy.set_training_mode(False)
    normalised, scale = _normalisation(model)
    if actor_critic:
        value, logits = _actor_critic(policy, model.observation_space)
        functions = [
            _Composed((normalised, value, partial(_first_output, scale))),
            _Composed((normalised, logits, _softmax)),
        ]
    else:
        q_values = _q_values(policy, model.observation_space)
        epsilon, actions = float(model.exploration_final_eps), int(model.action_space.n)
        choices = np.full((actions, actions), epsilon / actions) + (1.0 - epsilon) * np.eye(actions)
        functions = [
            _Composed((normalised, q_values, partial(_largest_output, scale))),
            _Composed((normalised, q_values, partial(_row_of_best, choices))),
        ]
    of_values, of_actions = (SB3Function(made, model.observation_space, model.action_space) for made in functions)
    return LearnedFunctions(of_values, of_actions, float(model.gamma))


@dataclass(frozen=True)
class _Composed:
    """Functions one after the other; like all functions here it can be pickled, as the agents that hold it are."""

    parts: tuple[Callable[[Any], Any], ...]

    def __call__(self, observation: Any) -> Any:
        """Give the observation to the first, and what each returns to the next."""
        for part in self.parts:
            observation = part(observation)
        return observation


def _first_output(scale: float, outputs: NDArray[np.float32]) -> Any:
    return scale * outputs[..., 0]


def _largest_output(scale: float, outputs: NDArray[np.float32]) -> Any:
    return scale * outputs.max(-1)


def _row_of_best(rows: NDArray[np.float64], outputs: NDArray[np.float32]) -> NDArray[np.float64]:
    return rows[outputs.argmax(-1)]


def _as_it_is(observation: Any) -> Any:
    return observation


def _normalisation(model: Any) -> tuple[Callable[[Any], Any], float]:
    """What a `VecNormalize` around the training does to an observation, and what undoes what it does to values."""
    around = model.get_vec_normalize_env()
    if around is None:
        return _as_it_is, 1.0
    scale = float(np.sqrt(around.ret_rms.var + around.epsilon)) if around.norm_reward else 1.0
    return around.normalize_obs, scale


def _actor_critic(policy: Any, space: spaces.Space) -> tuple[Network, Network]:
    """Value and logits of an actor-critic policy."""
    values = _perceptron(policy.vf_features_extractor, [*policy.mlp_extractor.value_net, policy.value_net], space)
    logits = _perceptron(policy.pi_features_extractor, [*policy.mlp_extractor.policy_net, policy.action_net], space)
    if values is not None and logits is not None:
        return values, logits
    return (
        partial(_ask_torch, policy, policy.predict_values),
        partial(_ask_torch, policy, partial(_logits, policy)),
    )


def _logits(policy: Any, observations: Any) -> Any:
    return policy.get_distribution(observations).distribution.logits


def _q_values(policy: Any, space: spaces.Space) -> Network:
    """Q-values of a DQN policy."""
    values = _perceptron(policy.q_net.features_extractor, policy.q_net.q_net, space)
    return values or partial(_ask_torch, policy, policy.q_net)


def _perceptron(features: Any, modules: Iterable[Any], space: spaces.Space) -> Network | None:
    """A network of linear layers with tanh or ReLU between them, by NumPy; None for any other."""
    encode = _encoder(space) if type(features).__name__ == "FlattenExtractor" else None
    layers: list[Layer] = []
    activations: list[Callable[[Any], Any]] = []
    for module in modules:
        kind = type(module).__name__
        if kind == "Linear":
            layers.append((module.weight.detach().numpy().T.copy(), module.bias.detach().numpy()))
        elif kind in ("Tanh", "ReLU"):
            activations.append(np.tanh if kind == "Tanh" else partial(np.maximum, np.float32(0.0)))
        else:
            return None
    if encode is None or len(layers) != len(activations) + 1:
        return None
    *hidden, last = layers
    return _Composed((encode, partial(_forward, list(zip(hidden, activations, strict=True)), last)))


def _forward(
    hidden: list[tuple[Layer, Callable[[Any], Any]]], last: Layer, x: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The outputs of linear layers, hidden ones with their activations."""
    for (weights, bias), activate in hidden:
        x = activate(x @ weights + bias)
    return x @ last[0] + last[1]


def _encoder(space: spaces.Space) -> Network | None:
    """An observation as Stable-Baselines3 flattens it; None where it does more than that."""
    if isinstance(space, spaces.Discrete) and space.start == 0:
        return np.eye(int(space.n), dtype=np.float32).__getitem__
    if isinstance(space, spaces.MultiBinary) or (isinstance(space, spaces.Box) and space.dtype != np.uint8):
        return partial(_flatten, len(space.shape))
    return None


def _flatten(axes: int, observation: Any) -> NDArray[np.float32]:
    numbers = np.asarray(observation, np.float32)
    return numbers.reshape(*numbers.shape[: numbers.ndim - axes], -1)


def _ask_torch(policy: Any, outputs: Callable[[Any], Any], observation: Any) -> NDArray[np.float32]:
    """Outputs of a policy, a function of several observations, computed by torch."""
    import torch

    seen, several = policy.obs_to_tensor(observation)
    with torch.no_grad():
        rows = outputs(seen).numpy()
    return rows if several else rows[0]


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Probabilities of logits."""
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def _channels_first(space: spaces.Space) -> spaces.Space:
    """The space of images as Stable-Baselines3 turns it for its CNNs; any other as it is."""
    if not isinstance(space, spaces.Box) or len(space.shape) != 3:
        return space
    return spaces.Box(np.moveaxis(space.low, -1, 0), np.moveaxis(space.high, -1, 0), dtype=space.dtype.type)
