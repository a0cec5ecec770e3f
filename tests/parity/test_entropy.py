"""The regularised selection and backup one call at a time, through their C pointers: by hand, and in their limits."""

import math
import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from naive_entropy import soft
from records import made_context

from gymnasium_gsp import RecipeError, ingredients, make_recipe
from gymnasium_gsp.abi.context import CONTEXT_SIZE, UNKNOWN
from gymnasium_gsp.abi.pointers import ctypes_type
from gymnasium_gsp.abi.signatures import SIGNATURES
from gymnasium_gsp.ingredients import EntropyMixed, SoftValue

NAMES = {"ments": "shannon", "rents": "relative", "tents": "tsallis"}
KINDS = tuple(NAMES.values())


@dataclass
class Node:
    """What a selection and a backup are given at one node, behind their C pointers."""

    q: list
    n: list
    depth: int = 0
    spread: float = 1.0
    reference: list | None = None
    mask: list | None = None
    context: np.ndarray = field(init=False)

    def __post_init__(self):
        k = len(self.q)
        self.context, record = made_context(k, depth=self.depth, range=self.spread)
        if self.reference is not None:
            self.notes(self.depth - 1)[:] = self.reference
        elif self.depth > 0:
            self.notes(self.depth - 1)[0] = UNKNOWN
        if self.mask is not None:
            record.masked = 1
            self.context[CONTEXT_SIZE : CONTEXT_SIZE + k] = self.mask

    def notes(self, depth):
        begin = CONTEXT_SIZE + (3 + depth) * len(self.q)
        return self.context[begin : begin + len(self.q)]

    def call(self, ingredient, *behind):
        function = ctypes_type(SIGNATURES[ingredient.kind])(ingredient.pointer().address)
        arrays = np.array(ingredient.params()), self.context, np.array(self.q, float), np.array(self.n)
        params, context, q, n = (array.ctypes.data for array in arrays)
        return function(params, context, sum(self.n), q, n, *behind)

    def value(self, *arguments, **options):
        return self.call(SoftValue(*arguments, **options), None, 0.0, 0.0)

    def draw(self, selection, rng):
        return self.call(selection, rng.ctypes.data)

    def policy(self, *arguments):
        self.draw(EntropyMixed(*arguments), np.array([1], np.uint64))
        return self.notes(self.depth).tolist()


def test_golden_values():
    ments, tents = Node([1.0, 0.0], [3, 1]), Node([1.0, 0.5, -1.0], [1, 1, 1])
    assert ments.value("shannon", 1.0) == pytest.approx(1.313262, abs=1e-6)
    assert ments.policy("shannon", 1.0) == pytest.approx([0.731059, 0.268941], abs=1e-6)
    assert tents.value("tsallis", 1.0) == pytest.approx(1.0625, abs=1e-12)
    assert tents.policy("tsallis", 1.0) == pytest.approx([0.75, 0.25, 0.0], abs=1e-12)
    # By hand: w = (1/4, 3/4), q = (ln 4, 0), t = 1: 1/4 * 4 + 3/4 = 7/4, so V = ln 7/4 and pi = (4/7, 3/7).
    rents = Node([math.log(4.0), 0.0], [1, 1], depth=1, reference=[0.25, 0.75])
    assert rents.value("relative", 1.0) == pytest.approx(math.log(1.75), abs=1e-12)
    assert rents.policy("relative", 1.0) == pytest.approx([4 / 7, 3 / 7], abs=1e-12)


def random_node(seed):
    rng = random.Random(seed)
    k = rng.randint(1, 7)
    n = [rng.choice([0, 1, 2, 9]) for _ in range(k)]
    n[rng.randrange(k)] = 1
    q = [rng.choice([0.0, rng.uniform(-5, 5), rng.uniform(0, 1e-3), rng.uniform(-1e6, 1e6)]) for _ in range(k)]
    reference = None if rng.random() < 0.3 else [rng.choice([0.0, rng.random(), 1e-200]) for _ in range(k)]
    t = 10.0 ** rng.uniform(-3, 2)
    return Node(q, n, depth=1, reference=reference), t


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_policies_of_hand_made_statistics(kind):
    """Both formulas, and that V is the regularised maximum that pi attains: sum pi q plus t times the entropy."""
    for seed in range(300):
        node, t = random_node(seed)
        value, pi = soft(kind, t, node.q, node.n, node.reference)
        size = max(t, *map(abs, node.q))
        # The printed sparsemax subtracts squares of q / t, which costs the oracle digits.
        slack = 1e-9 * size + 1e-14 * size * size / t
        assert node.value(kind, t) == pytest.approx(value, abs=slack)
        if all(node.n):
            assert node.policy(kind, t) == pytest.approx(pi, abs=1e-9 * (1.0 + size / t))
        mass = sum(w for w, n in zip(node.reference or [], node.n, strict=False) if n)
        base = [w / mass if mass > 0.0 else 1 / sum(n > 0 for n in node.n) for w in node.reference or node.q]
        entropy = {
            "shannon": lambda p, w: -p * math.log(p),
            "relative": lambda p, w: -p * math.log(p / w),
            "tsallis": lambda p, w: p * (1 - p) / 2,
        }[kind]
        attained = sum(p * x + t * entropy(p, w) for p, x, w in zip(pi, node.q, base, strict=True) if p > 0.0)
        assert attained == pytest.approx(value, abs=slack + 1e-6 * size)


@pytest.mark.parametrize("kind", KINDS)
def test_towards_temperature_0_it_is_the_maximum(kind):
    node = Node([-3.0, 0.25, 0.5, 0.75], [1, 2, 1, 0])
    for t in (1e-2, 1e-6, 1e-12, 1e-300):
        assert node.value(kind, t) == pytest.approx(0.5, abs=2 * t + 1e-15)
        assert Node([-1e300, 0.5], [1, 1]).value(kind, t) == pytest.approx(0.5, abs=2 * t + 1e-15)


@pytest.mark.parametrize("k", [1, 2, 5, 21])
@pytest.mark.parametrize("q", [0.0, -3.5, 1e6])
def test_equal_values(k, q):
    node, t = Node([q] * k, [1] * k), 0.5
    assert node.value("shannon", t) == pytest.approx(q + t * math.log(k), rel=1e-12)
    assert node.value("relative", t) == pytest.approx(q, rel=1e-12, abs=1e-15)
    assert node.value("tsallis", t) == pytest.approx(q + t / 2 * (1 - 1 / k), rel=1e-12)
    for kind in KINDS:
        assert node.value(kind, t, non_expansive=True) == pytest.approx(q, rel=1e-12, abs=1e-12)
        assert node.policy(kind, t) == pytest.approx([1 / k] * k)


@pytest.mark.parametrize("kind", KINDS)
def test_the_corrected_operator_is_non_expansive_and_no_more_than_the_maximum(kind):
    rng = random.Random(7)
    for _ in range(300):
        k, t = rng.randint(1, 6), 10.0 ** rng.uniform(-2, 1)
        left = [rng.uniform(-1, 1) for _ in range(k)]
        right = [x + rng.uniform(-1, 1) for x in left]
        first, second = (Node(q, [1] * k).value(kind, t, non_expansive=True) for q in (left, right))
        assert abs(first - second) <= max(abs(x - y) for x, y in zip(left, right, strict=True)) + 1e-12
        assert first <= max(left) + 1e-12


def test_the_reference_is_the_parents_policy_on_this_trajectory():
    q, n = [1.0, 0.0, 0.5], [1, 1, 1]
    uniform = soft("relative", 1.0, q, n)[0]
    assert Node(q, n, depth=2, reference=[0.0, 0.2, 0.8]).value("relative", 1.0) == pytest.approx(
        soft("relative", 1.0, q, n, [0.0, 0.2, 0.8])[0]
    )
    assert Node(q, n, depth=2).value("relative", 1.0) == pytest.approx(uniform)  # the parent was new
    assert Node(q, n, depth=2, reference=[0.0] * 3).value("relative", 1.0) == pytest.approx(uniform)
    # All its mass is on an action that was not tried here, or is not legal here and so was never tried.
    assert Node(q, [1, 0, 1], depth=2, reference=[0.0, 1.0, 0.0]).value("relative", 1.0) == pytest.approx(
        soft("relative", 1.0, q, [1, 0, 1])[0]
    )
    root = Node(q, n)
    root.notes(0)[:] = 0.9, 0.1, 0.0
    assert root.value("relative", 1.0) == pytest.approx(uniform)


def frequencies(node, selection, draws=20_000):
    rng = np.array([5], np.uint64)
    return np.bincount([node.draw(selection, rng) for _ in range(draws)], minlength=len(node.q)) / draws


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("epsilon", "per_action"), [(0.0, True), (0.1, True), (0.5, False), (1.0, True)])
def test_draws_are_mixed_with_a_uniform_policy(kind, epsilon, per_action):
    """Claim: frequencies are (1 - lambda) pi + lambda / |A|.  20,000 draws each, 4.9 standard errors."""
    node = Node([0.6, 0.1, -0.4], [2, 3, 4], spread=2.0)
    pi = soft(kind, 0.5, node.q, node.n)[1]
    weight = min(1.0, epsilon * (3 if per_action else 1) / math.log(10.0))
    expected = np.array([(1 - weight) * p + weight / 3 for p in pi])
    found = frequencies(node, EntropyMixed(kind, 0.25, "range", epsilon, per_action))
    assert np.all(np.abs(found - expected) <= 4.9 * np.sqrt(expected * (1 - expected) / 20_000) + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_masks_and_untried_actions(kind):
    node = Node([5.0, 1.0, 9.0, 1.0], [0, 4, 0, 4], mask=[0.0, 1.0, 1.0, 1.0])
    assert frequencies(node, EntropyMixed(kind), 100).tolist() == [0.0, 0.0, 1.0, 0.0]
    node = Node([5.0, 1.0, 9.0, 1.0], [0, 4, 0, 4], mask=[0.0, 1.0, 0.0, 1.0])
    found = frequencies(node, EntropyMixed(kind, 1.0, "raw", 1.0))
    assert found[[0, 2]].tolist() == [0.0, 0.0]
    assert abs(found[1] - 0.5) <= 4.9 * math.sqrt(0.25 / 20_000)


@pytest.mark.parametrize("make", [EntropyMixed, SoftValue])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temperature": 0}, "temperature must be above 0, not 0"),
        ({"temperature": -0.5}, "temperature must be above 0, not -0.5"),
        ({"temperature": math.nan}, "temperature must be a finite number"),
        ({"temperature": "hot"}, "temperature must be a finite number"),
        ({"regulariser": "shanon"}, "Did you mean 'shannon'"),
        ({"scale": "rage"}, "Did you mean 'range'"),
    ],
)
def test_what_makes_no_sense_is_refused(make, options, words):
    with pytest.raises(RecipeError, match=words):
        make(**options)


@pytest.mark.parametrize("name", NAMES)
def test_options_that_make_no_sense_are_refused(name):
    for epsilon in (-0.1, 1.5):
        with pytest.raises(RecipeError, match="epsilon must be a finite number between 0 and 1"):
            make_recipe(name, epsilon=epsilon)
    with pytest.raises(RecipeError, match="temperature must be above 0"):
        make_recipe(name, temperature=0.0)
    with pytest.raises(RecipeError, match="per_action must be True or False"):
        make_recipe(name, per_action="no")
    with pytest.raises(RecipeError, match="Did you mean 'temperature'"):
        make_recipe(name, temprature=1.0)


@pytest.mark.parametrize("name", NAMES)
def test_recipes(name):
    for key, corrected in (("path", False), ("state_elapsed", False), ("state", True), (None, True)):
        assert make_recipe(name, key=key).backup.non_expansive is corrected
    assert make_recipe(name, key="state", non_expansive=False).backup.non_expansive is False
    assert (make_recipe(name, key="state").discount, make_recipe(name, key="state", discount=1.0).discount) == (0.99, 1)
    recipe = make_recipe(name, preset="paper", env_id="GSP/FactoredRiverSwim-v0")
    assert recipe.selection == EntropyMixed(NAMES[name], 0.99, "raw", 0.5, True)
    assert recipe.backup == SoftValue(NAMES[name], 0.99, "raw", False)
    assert eval(repr(recipe), vars(ingredients)) == recipe
