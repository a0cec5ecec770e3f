"""MENTS, RENTS and TENTS: search with a regularised value and a policy that belongs to it.

MENTS: C. Xiao, R. Huang, J. Mei, D. Schuurmans and M. Mueller, Maximum entropy Monte-Carlo planning, NeurIPS 2019.
RENTS and TENTS: T. Dam, C. D'Eramo, J. Peters and J. Pajarinen, Convex regularization in Monte-Carlo tree search,
ICML 2021.

A node's value is not the mean or the maximum of its actions' values but a smooth maximum of them: log-sum-exp (MENTS),
log-sum-exp weighted by the policy of the node before (RENTS), or sparsemax (TENTS).  Each has its policy, which is
mixed with a uniform one and sampled to choose the actions of a simulation.  A temperature says how smooth; the search
converges to the regularised value, which towards temperature 0 becomes the optimum.

Departures from the papers:
    1. Untried actions are taken first, and policy and value are over tried actions alone, as in the authors' code; the
       papers' formulas give an action that was never tried the value 0 or a prior.
    2. The weight of the uniform policy, `epsilon |A| / log(N(s) + 1)`, has the factor `|A|` of the papers and of the
       authors' code; `per_action=False` is the form of thts++, without it.  At 21 actions and epsilon 0.5 it is 1, all
       exploration, up to 36,000 visits.
    3. RENTS' reference is the policy of the parent on this trajectory, matched by action, taken when the trajectory
       passed there.  It is uniform at the root, behind a node that was new, and where the parent's policy gives the
       tried actions nothing; over the tried actions it is normalised.
    4. The temperature is scaled by the observed range of returns, a hundredth of it by default: what a smooth maximum
       adds piles up over the steps that are left.  The presets have raw temperatures.
    5. The default graph is a tree, as published.  `key="state_elapsed"` shares nodes at one time of the episode and
       `key="state"` at all times, with any choice of the other slots.  For state keys (or a key left open, which may
       become one) what the operator adds to equal values is taken off: else a cycle without rewards grows by
       `t log |A|` a turn where the discount is 1.  `non_expansive` says otherwise.  Cycles with rewards grow all the
       same, so `key="state"` takes discount 0.99 unless one is given.
    6. The recommended action is the best among those tried, by Q(s,a).
    7. The presets have the temperatures and epsilon that the GS-Power-UCT paper selected for MENTS; it gives none for
       RENTS and TENTS, which take the same.  Both search a fresh tree with leaf expansion and discount 1.  "printed"
       computes Q(s,a) from the children's present values, as Dam et al. do; "paper" averages the targets as they
       were, because that is nearest to the published figures as a whole (docs/algorithms.md).
"""

from typing import Any

from gymnasium_gsp.algorithms.registry import algorithm, on_benchmarks, options_of
from gymnasium_gsp.search.ingredients.entropy import EntropyMixed, Regulariser, SoftValue
from gymnasium_gsp.search.ingredients.horizon import DEFAULT_DISCOUNT
from gymnasium_gsp.search.recipe import Recipe

_PAPER = {"scale": "raw", "epsilon": 0.5, "discount": 1.0, "estimator": "running"}
_TEMPERATURE = (0.25, 0.01, 0.99, 0.25, 0.01)
_PRESETS = {
    "paper": on_benchmarks(_PAPER, temperature=_TEMPERATURE),
    "printed": on_benchmarks({**_PAPER, "estimator": "current"}, temperature=_TEMPERATURE),
}


def _regularised(
    regulariser: Regulariser,
    *,
    temperature: float = 0.01,
    scale: str = "range",
    epsilon: float = 0.5,
    per_action: bool = True,
    non_expansive: bool | None = None,
    **slots: Any,
) -> Recipe:
    """The recipe for one regulariser.

    Args:
        regulariser: of value and policy.
        temperature: how smooth the maximum is, above 0.
        scale: "raw", or "range" to multiply the temperature by the observed range of returns.
        epsilon: weight of the uniform policy, from 0 to 1.
        per_action: whether that weight has the factor `|A|`.
        non_expansive: take off what the operator adds to equal values; None for state keys alone.
        **slots: other choices for slots of the recipe.
    """
    key = slots.get("key", "path")
    if non_expansive is None:
        non_expansive = key in (None, "state")
    return Recipe(
        key="path",
        selection=EntropyMixed(regulariser, temperature, scale, epsilon, per_action),  # type: ignore[arg-type]
        backup=SoftValue(regulariser, temperature, scale, non_expansive),  # type: ignore[arg-type]
        estimator="current",
        discount=DEFAULT_DISCOUNT if key == "state" else None,
    ).changed(**slots)


@algorithm("ments", "Xiao et al. 2019", _PRESETS)
@options_of(_regularised)
def ments(**options: Any) -> Recipe:
    """MENTS: softmax policy and log-sum-exp value; options as for `_regularised`."""
    return _regularised("shannon", **options)


@algorithm("rents", "Dam et al. 2021", _PRESETS)
@options_of(_regularised)
def rents(**options: Any) -> Recipe:
    """RENTS: policy and value relative to the policy of the node before; options as for `_regularised`."""
    return _regularised("relative", **options)


@algorithm("tents", "Dam et al. 2021", _PRESETS)
@options_of(_regularised)
def tents(**options: Any) -> Recipe:
    """TENTS: sparsemax policy and value, from the Tsallis entropy; options as for `_regularised`."""
    return _regularised("tsallis", **options)
