from math import inf

import pytest

from gymnasium_gsp import RecipeError, ingredients, make_recipe
from gymnasium_gsp.agents.values import INGREDIENTS, parse_value
from gymnasium_gsp.algorithms.registry import ingredients_of
from gymnasium_gsp.bench.texts import arguments_of, options_of
from gymnasium_gsp.ingredients import Budget, Cautious, FixedHorizon, PolynomialBonus, PowerMean, Sweep, Table1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("+2", 2),
        (" 0.5 ", 0.5),
        ("1e-3", 0.001),
        ("inf", inf),
        ("-inf", -inf),
        ("true", True),
        ("False", False),
        ("none", None),
        ("None", None),
        ("range", "range"),
        ("best-value", "best-value"),
        ("'two words'", "two words"),
        ("(1, 2.5)", (1, 2.5)),
        ("[1, inf]", (1, inf)),
        ("FixedHorizon(10)", FixedHorizon(10)),
        ("FixedHorizon(depth=10)", FixedHorizon(10)),
        ("Sweep(Cautious(0.3))", Sweep(Cautious(0.3))),
        ("PowerMean(p=inf)", PowerMean(inf)),
        ("PolynomialBonus(c=1, scale=range)", PolynomialBonus(1, "range")),
        ("PolynomialBonus(1, 'raw', none)", PolynomialBonus(1, "raw")),
        ("Table1(alpha=[5], beta=[12], b=[3])", Table1((5,), (12,), (3,))),
        ("Budget(seconds=0.1, nodes=7)", Budget(seconds=0.1, nodes=7)),
    ],
)
def test_values(text, value):
    parsed = parse_value(text)
    assert parsed == value
    assert type(parsed) is type(value)


HOSTILE = [
    "__import__('os')",
    "__import__('os').system('echo')",
    "().__class__",
    "FixedHorizon.__init__",
    "FixedHorizon(10).depth",
    "lambda: 0",
    "FixedHorizon(lambda: 0)",
    "[x for x in (1, 2)]",
    "1 + 1",
    "9 ** 9 ** 9",
    "1 if 2 else 3",
    "x := 3",
    "FixedHorizon(*(1,))",
    "FixedHorizon(**{'depth': 1})",
    "{'a': 1}",
    "f'{1}'",
    "b'bytes'",
    "3j",
    "...",
    "-true",
    "-range",
    "not true",
    "range[0]",
    "eval('1')",
    "open('/etc/passwd')",
    "Sweep(print(1))",
    "1; 2",
    "import os",
    "(",
    "",
    "'\0'",
    "(" * 250 + ")" * 250,
    "[" * 60 + "]" * 60,
    "-" * 400 + "1",
    "~" * 900 + "1",
    "Sweep(" * 20 + ")" * 20,
    "1" * 5000,
    "'" + "x" * 100_000 + "'",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:20].replace("\0", "0"))
def test_nothing_else_is_read(text, capfd):
    with pytest.raises(RecipeError) as caught:
        parse_value(text)
    assert len(str(caught.value)) < 500
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FixedHorizon", "FixedHorizon is a kind of ingredient; a value of it is written as a call"),
        ("Sweep(Cautious)", "Cautious is a kind of ingredient"),
        ("FixedHorizn(3)", "Did you mean 'FixedHorizon'"),
        ("FixedHorizon(dept=3)", "unknown argument of FixedHorizon 'dept'. Did you mean 'depth'"),
        ("FixedHorizon()", "FixedHorizon: .*depth"),
        ("FixedHorizon(1, 2)", "FixedHorizon: "),
        ("FixedHorizon(0)", "a fixed horizon is a whole number of at least 1, not 0"),
        ("PowerMean(0.5)", "p must be between 1"),
        ("PowerMean(p=inff)", "p must be a finite number, not 'inff'"),
        ("Rollout(steps=many)", "steps of a rollout must be a whole number"),
        ("Budget(simulations=0)", "budget: simulations"),
        ("Custom(140000000)", "Custom takes a function"),
        ("Heuristic(1)", "Heuristic takes a function"),
        ("PythonValue(print)", "PythonValue takes a function"),
    ],
)
def test_messages(text, message):
    with pytest.raises(RecipeError, match=message):
        parse_value(text)


def test_every_ingredient_without_a_function_can_be_written():
    functions = {"Custom", "Heuristic", "PolicyFunction", "PriorFunction", "PythonValue", "ValueFunction"}
    keys = {"Cells", "ObservationKey"}
    assert set(INGREDIENTS) == (set(ingredients.__all__) | keys) - functions - {"inf"}


@pytest.mark.parametrize("name", ["gs-power-uct", "gs-power-uct-f+", "uct", "power-uct"])
def test_the_ingredients_of_a_recipe_are_what_settings_read(name):
    recipe = make_recipe(name)
    slots = {slot: parse_value(text) for slot, text in ingredients_of(recipe).items()}
    assert all(getattr(recipe, slot) == value for slot, value in slots.items())


def test_settings():
    assert options_of(["p=inf", " scale = raw", "decision=Sweep()"]) == {
        "p": inf,
        "scale": "raw",
        "decision": Sweep(),
    }


@pytest.mark.parametrize("setting", ["p", "p=", "=3", "a b=3", "a.b=3", ""])
def test_a_setting_has_a_key_and_a_value(setting):
    for parse in (options_of, arguments_of):
        with pytest.raises(RecipeError, match=r"a setting is written key=value|there is an empty value"):
            parse([setting])


def test_no_key_is_given_twice():
    with pytest.raises(RecipeError, match="p is set twice"):
        options_of(["p=1", "p=2"])


def test_arguments_of_an_environment_are_json_or_text():
    assert arguments_of(["slip=0.1", 'desc=["SF", "FG"]', "render_mode=ansi", "x=true", "y=null", "z=[" + "["]) == {
        "slip": 0.1,
        "desc": ["SF", "FG"],
        "render_mode": "ansi",
        "x": True,
        "y": None,
        "z": "[[",
    }
    assert arguments_of(["deep=" + "[" * 100_000])["deep"].startswith("[[")


@pytest.mark.parametrize(
    "setting", ["selection=5", "root_selection=5", "backup=7", "decision=Sweep(9)", "evaluation=Rollout(9)"]
)
def test_a_number_is_no_address_of_a_function(setting):
    with pytest.raises(RecipeError, match=r"was given [579]; it takes an ingredient"):
        make_recipe("uct", **options_of([setting]))
