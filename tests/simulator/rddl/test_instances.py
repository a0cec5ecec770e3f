"""What is translated, what is refused and how, the joint actions, and exact optima."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gymnasium_gsp.envs.rddl_instances import IPPC_DOMAINS
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact import backward_induction, enumerate_model, truncated_value
from gymnasium_gsp.exact.elimination import can_eliminate, eliminated_values, has_wide_rows
from gymnasium_gsp.models.legal import legal_actions
from gymnasium_gsp.models.rddl.expressions import NotTranslatedError

HERE = Path(__file__).parent
ALL = [
    pytest.param(domain, number, marks=[] if number == 3 else pytest.mark.slow)
    for domain in IPPC_DOMAINS
    for number in range(1, 11)
]
# Horizon 40, from the first state.  All but Tamarisk's come from another program, which listed every outcome.
# Tamarisk's rows have too many: its value is that of elimination, which gives the others' values too.
OPTIMA = {
    "SysAdmin_MDP_ippc2011": 342.6805,
    "Navigation_MDP_ippc2011": -9.5669,
    "Elevators_MDP_ippc2011": -44.0541,
    "GameOfLife_MDP_ippc2011": 209.4349,
    "CrossingTraffic_MDP_ippc2011": -4.4286,
    "SkillTeaching_MDP_ippc2011": 66.2647,
    "CooperativeRecon_MDP_ippc2011": 3.9812,
    "AcademicAdvising_MDP_ippc2014": -41.1364,
    "TriangleTireworld_MDP_ippc2014": 93.12,
    "Wildfire_MDP_ippc2014": -333.1023,
    "Tamarisk_MDP_ippc2014": -131.2986,
}
QUICK = ("Navigation", "Elevators", "CrossingTraffic", "SkillTeaching", "TriangleTireworld")


def compiled_instance(env):
    from gymnasium_gsp.models.rddl.model import compile_instance

    return compile_instance(env)


@pytest.mark.parametrize(("domain", "number"), ALL)
def test_the_competitions_instances_are_translated(instance, domain, number):
    """The first state survives packing, its actions are those that are listed, and its law sums to 1."""
    env = instance(domain, number)
    compiled = compiled_instance(env)
    layout = compiled.instance.layout
    cells = layout.pack(env.sampler.init_values)
    for name, value in layout.unpack(cells).items():
        np.testing.assert_array_equal(value, env.sampler.init_values[name])
    assert compiled.compiler == "LLVM"
    assert compiled.model.actions <= compiled.joint.combinations
    sizes = compiled.model.factors.sizes
    assert len(sizes) == len(compiled.instance.choices)
    assert compiled.model.actions >= 1


@pytest.mark.parametrize(
    "domain",
    [pytest.param(domain, marks=[] if domain.partition("_")[0] in QUICK else pytest.mark.slow) for domain in OPTIMA],
)
def test_exact_optima(instance, domain):
    """Instance 1, horizon 40, the package's own backward induction over the package's own law."""
    env = instance(domain, 1)
    compiled = compiled_instance(env)
    root = compiled.instance.layout.pack(env.sampler.init_values)
    best = truncated_value(compiled.model, root, horizon=40, limit=1_000_000)
    assert best == pytest.approx(OPTIMA[domain], abs=5.1e-5)


def test_elimination_fluent_by_fluent_gives_what_rows_give(instance):
    """SysAdmin with ten machines: every state's value with four steps left, by two routes."""
    compiled = compiled_instance(instance("SysAdmin_MDP_ippc2011", 2))
    root = compiled.instance.layout.pack(instance("SysAdmin_MDP_ippc2011", 2).sampler.init_values)
    space = enumerate_model(compiled.model, root)
    assert has_wide_rows(compiled.model, root)
    eliminated = eliminated_values(compiled.model, 4, 0.9)
    listed = backward_induction(space, 4, 0.9).values[0]
    np.testing.assert_allclose(eliminated[space.states[:, 0]], listed, rtol=1e-12)


def test_elimination_respects_masks(instance):
    """Game of Life, where cells 1 to 4 may be set only while cell 0 lives: against listing every outcome."""

    def legal(params, state, mask):
        count = 0
        for action in range(10):
            mask[action] = 1.0 if action == 0 or action > 5 or state[0] & 1 else 0.0
            count += int(mask[action])
        return count

    compiled = compiled_instance(instance("GameOfLife_MDP_ippc2011", 1))
    model = replace(compiled.model, legal=legal)
    space = enumerate_model(model, 5)
    assert not space.legal.all()
    listed = backward_induction(space, 3).values[0]
    np.testing.assert_allclose(eliminated_values(model, 3)[space.states[:, 0]], listed, rtol=1e-12)


def test_what_elimination_refuses(written):
    """Fluents that are not Boolean, or depend on each other."""
    compiled = compiled_instance(written())
    assert not can_eliminate(compiled.model)
    with pytest.raises(RecipeError, match="fluent by fluent"):
        eliminated_values(compiled.model, 3)


def test_rows_in_python_and_enumeration_in_compiled_code_agree(written):
    """The whole state space of an invented domain, by two routes."""
    env = written()
    compiled = compiled_instance(env)
    root = compiled.instance.layout.pack(env.sampler.init_values)
    fast = enumerate_model(compiled.model, root, horizon=4)
    slow = enumerate_model(replace(compiled.model, factors=None), root, horizon=4)
    assert fast.states.tolist() == slow.states.tolist()
    np.testing.assert_allclose(backward_induction(fast, 4).values, backward_induction(slow, 4).values, equal_nan=True)


def test_466_joint_actions(instance):
    """Thirty courses, at most two at a time."""
    compiled = compiled_instance(instance("AcademicAdvising_MDP_ippc2014", 10))
    assert compiled.joint.combinations == compiled.model.actions == 466


def test_joint_actions_that_do_the_same_are_merged_and_forbidden_ones_masked(written, made_up_states, stream):
    """Two of three paces do the same; a machine may be repaired where it is down or worn."""
    env = written()
    compiled = compiled_instance(env)
    assert compiled.joint.combinations == 1 + 2 + 2 + 1 + 4  # none, one machine, a pace, both, a machine and a pace
    assert compiled.model.actions == 7

    for cells in itertools.islice(made_up_states(compiled, env, 50, stream), 50):
        values = compiled.instance.layout.unpack(cells)
        repairable = ~values["up"] | (values["wear"] != 0)
        expected = [all(repairable[m] or not action[m] for m in (0, 1)) for action in compiled.joint.values]
        assert legal_actions(compiled.model, cells).tolist() == expected


REAL_ACTIONS = [
    ("{ action-fluent, bool, default = false }", "{ action-fluent, real, default = 0.0 }"),
    ("repair(?m) =>", "(repair(?m) > 0.5) =>"),
    ("if (repair(?m))", "if (repair(?m) > 0.5)"),
]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (REAL_ACTIONS, "the real-valued action fluent repair"),
        ([("Bernoulli(0.3);", "Normal(0.0, 1.0) > 0.5;")], r"the distribution Normal.*in the expression of shock"),
        ([("mod[abs[count - 3], 2] * 2", "round[tanh[count]]")], "the function tanh of a fluent"),
        ([("count >= 5;", "Bernoulli(0.5) ^ (count >= 5);")], "a random variable in a .* termination"),
    ],
)
def test_what_is_not_translated_is_named(written, changes, sentence):
    env = written(*changes)
    with pytest.raises(NotTranslatedError, match=sentence):
        compiled_instance(env)


def test_a_pomdp_is_named(instance):
    with pytest.raises(NotTranslatedError, match=r"observation fluents.*POMDP"):
        compiled_instance(instance("SysAdmin_POMDP_ippc2011", 1))


# 24 machines, any of which may be repaired at once, in whatever state they are.
MACHINES = ", ".join(f"m{number}" for number in range(1, 25))
WITHOUT_PACE = [
    ("        pace : { action-fluent, grade, default = @low };\n", ""),
    ("if (pace == @high) then @high else ", ""),
]
MANY = [
    *WITHOUT_PACE,
    ("NEXT(m2) = m1;", " ".join(f"NEXT(m{number}) = m1;" for number in range(2, 25))),
    ("{m1, m2}", f"{{{MACHINES}}}"),
    ("max-nondef-actions = 2", "max-nondef-actions = 24"),
]
FREE = ("(~up(?m) | (wear(?m) ~= @low))", "true")


def test_too_many_joint_actions_are_refused(written):
    with pytest.raises(NotTranslatedError, match=r"16,777,216 joint actions; at most 20,000.*max-nondef-actions"):
        compiled_instance(written(*MANY, FREE))


def test_joint_actions_are_counted_after_preconditions(written):
    """Of 2^24 joint actions, a rule that forbids two repairs at once leaves 25; none of the others is visited."""
    one = (
        "repair(?m) => (~up(?m) | (wear(?m) ~= @low))",
        "~(repair(?m) ^ (exists_{?n : machine} [?n ~= ?m ^ repair(?n)]))",
    )
    compiled = compiled_instance(written(*MANY, one))
    assert (compiled.joint.combinations, compiled.model.actions) == (2**24, 25)


@pytest.mark.slow
def test_an_instance_with_24_action_fluents_and_rules_between_them(instance):
    """Manufacturer of 2018 has no limit on how many are set; its preconditions and equal effects leave 180."""
    compiled = compiled_instance(instance("Manufacturer_ippc2018", 1))
    assert (compiled.joint.combinations, compiled.model.actions) == (2**24, 180)


def test_a_fluent_that_nothing_depends_on_keeps_its_default(written):
    unused = compiled_instance(written(("if (pace == @high) then @high else ", "")))
    pace = next(n for n, fluent in enumerate(unused.instance.actions) if fluent.name == "pace")
    assert {values[pace] for values in unused.joint.values} == {0}
    assert unused.model.actions == 4


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_joint_actions_are_those_of_plain_enumeration(written, most, counts):
    """In the order of few changes before many, of all combinations; preconditions are broken by none for good."""
    from gymnasium_gsp.models.rddl.actions import _Combinations

    instance = compiled_instance(written()).instance
    ranges = [range(2), range(2), range(3)]
    assert [fluent.name for fluent in instance.actions] == ["repair", "repair", "pace"]
    counted = [True, True, counts]
    listed = _Combinations(instance, ranges, counted, most).listed()
    expected = [
        {number: value for number, value in enumerate(values) if value}
        for values in itertools.product(*ranges)
        if sum(bool(value) for value, counted_too in zip(values, counted, strict=True) if counted_too) <= most
    ]
    assert len(listed) == len(expected)
    assert all(changed in expected for changed in listed)
    sizes = [sum(counted[number] for number in changed) for changed in listed]
    assert sizes == sorted(sizes)


def test_preconditions_that_leave_no_action_are_refused(written):
    env = written(("=> (~up(?m) | (wear(?m) ~= @low))", "^ ~repair(?m)"))
    with pytest.raises(NotTranslatedError, match="preconditions that allow no joint action"):
        compiled_instance(env)


def test_an_unknown_domain_or_instance_is_answered_with_the_nearest(instance):
    with pytest.raises(RecipeError, match="Did you mean 'SysAdmin_MDP_ippc2011'"):
        instance("SysAdmin_MDP_ippc2012", 1)
    with pytest.raises(RecipeError, match="unknown instance of SysAdmin_MDP_ippc2011 '11'"):
        instance("SysAdmin_MDP_ippc2011", 11)


def test_an_instance_that_does_not_parse_is_a_sentence(instance, monkeypatch):
    from pyRDDLGym.core.parser.reader import RDDLReader

    monkeypatch.setattr(
        RDDLReader, "rddltxt", property(lambda self: "domain broken { types { level : object; }; }"), raising=False
    )
    with pytest.raises(RecipeError, match="pyRDDLGym cannot read instance 1 of SysAdmin_MDP_ippc2011: RDDLParseError"):
        instance("SysAdmin_MDP_ippc2011", 1)


@pytest.mark.parametrize("where", ["in a comment", "in the text"])
def test_a_file_that_is_not_utf_8(instance, tmp_path, monkeypatch, where):
    """Some of rddlrepository's domains hold such bytes in comments; elsewhere they are refused."""
    import pyRDDLGym

    place = b"// Everything" if where == "in a comment" else b"shock :"
    paths = []
    for name in ("workshop_domain.rddl", "workshop_instance.rddl"):
        paths.append(tmp_path / name)
        paths[-1].write_bytes((HERE / name).read_bytes().replace(place, place[:2] + b"\xe9" + place[2:]))
    monkeypatch.setattr(pyRDDLGym, "make", lambda *_: pyRDDLGym.RDDLEnv(*map(str, paths)))
    if where == "in a comment":
        assert compiled_instance(instance("SysAdmin_MDP_ippc2011", 1)).instance.name == "workshop_two_machines"
        return
    with pytest.raises(RecipeError, match=r"cannot read instance 1 of SysAdmin_MDP_ippc2011: RDDLParseError.*Unicode"):
        instance("SysAdmin_MDP_ippc2011", 1)


def test_a_missing_package_is_a_sentence(monkeypatch):
    import sys

    from gymnasium_gsp.envs.rddl_instances import make_instance

    monkeypatch.setitem(sys.modules, "pyRDDLGym", None)
    with pytest.raises(RecipeError, match=r"RDDL needs pyRDDLGym, which is missing: pip install"):
        make_instance("SysAdmin_MDP_ippc2011", 1)
