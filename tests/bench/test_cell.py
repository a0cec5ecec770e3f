import pickle

import gymnasium as gym
import pytest

from gymnasium_gsp import Budget, RecipeError
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.texts import arguments_text, budget_text, options_of, options_text
from gymnasium_gsp.bench.tuning import preset_text
from gymnasium_gsp.ingredients import Cautious, Custom, FixedHorizon, PowerMean, Recipe, Sweep

OPTIONS = {"horizon": FixedHorizon(10), "discount": 0.95, "scale": "raw"}


def lake(**fields):
    return Cell(**{"env": "FrozenLake", "algorithm": "gs-power-uct", **fields})


def test_every_way_to_give_a_cell_makes_the_same_one():
    """From Python, from flags, from TOML, and from its own texts."""
    from_python = lake(budget=Budget(seconds=0.5, nodes=3), options=OPTIONS, env_options={"slip": 0.1, "desc": None})
    from_flags = lake(
        budget="Budget(nodes=3, seconds=0.5)",
        options=["horizon=FixedHorizon(10)", "scale=raw", "discount=0.95"],
        env_options=["desc=null", "slip=0.1"],
    )
    from_toml = lake(
        budget="Budget(seconds=0.5, nodes=3)",
        options={"scale": "raw", "horizon": "FixedHorizon(depth=10)", "discount": 0.95},
        env_options={"desc": None, "slip": 0.1},
    )
    from_its_texts = Cell(**dict(from_python))
    assert from_python == from_flags == from_toml == from_its_texts == pickle.loads(pickle.dumps(from_python))
    assert len({from_python, from_flags, from_toml, from_its_texts}) == 1
    assert dict(from_python) == {
        "env": "GSP/FrozenLake-v0",
        "algorithm": "gs-power-uct",
        "preset": "",
        "budget": "Budget(seconds=0.5, nodes=3)",
        "seed": 0,
        "options": "discount=0.95, horizon=FixedHorizon(depth=10), scale='raw'",
        "env_options": '{"desc": null, "slip": 0.1}',
        "wrap": "",
        "simulator": "",
    }


def test_every_spelling_of_an_id_is_the_same_cell():
    spellings = ("FrozenLake", "GSP/FrozenLake-v0", "gymnasium_gsp:GSP/FrozenLake-v0")
    assert {lake(env=spelling) for spelling in spellings} == {lake()}


def test_texts_do_not_depend_on_the_order_and_read_back():
    assert options_text(OPTIONS) == options_text(dict(reversed(OPTIONS.items())))
    assert options_of(options_text(OPTIONS)) == OPTIONS
    assert options_of("decision=Sweep(Cautious(0.3)), p=inf") == {"decision": Sweep(Cautious(0.3)), "p": float("inf")}
    assert options_text(None) == options_text({}) == arguments_text({}) == arguments_text("") == ""
    assert arguments_text({"b": 1, "a": None}) == '{"a": null, "b": 1}'
    assert budget_text(Budget(simulations=5)) == budget_text("5") == budget_text("Budget(5)") == 5
    assert lake(preset=None) == lake(preset="none") == lake(preset="")


def test_a_changed_cell_is_checked_again():
    assert lake(seed=3).changed(budget="16", seed=4) == lake(budget=16, seed=4)
    with pytest.raises(RecipeError, match="budget: simulations"):
        lake().changed(budget=0)


def test_the_text_of_a_cell_for_people():
    cell = lake(preset="paper", budget=64, options={"p": 2.0}, env_options={"slip": 0.0})
    assert str(cell) == 'GSP/FrozenLake-v0, gs-power-uct, 64 simulations, preset paper, p=2.0, {"slip": 0.0}'
    assert str(lake(budget=Budget(nodes=3))) == "GSP/FrozenLake-v0, gs-power-uct, Budget(nodes=3)"


def test_a_recipe_is_an_algorithm_as_text():
    recipe = Recipe(horizon=FixedHorizon(3), backup=PowerMean(2.0))
    cell = lake(algorithm="Recipe(backup=PowerMean(2.0), horizon=FixedHorizon(3))")
    agent = cell.make_agent(cell.make_env())
    assert agent.recipe == recipe
    assert agent.name == "recipe"
    assert cell == lake(algorithm=repr(recipe))


def test_the_options_of_a_preset_file_are_those_of_the_cell(tmp_path):
    path = tmp_path / "p.toml"
    options = {"c": "0.25", "p": "inf", "decision": "Sweep(Cautious(0.3))"}
    path.write_text(preset_text("gs-power-uct", "GSP/FrozenLake-v0", options, {"score": 0.5}))
    for preset in (path, str(path)):
        cell = lake(preset=preset, options=["c=0.5"])
        assert cell.preset == ""
        assert options_of(cell.options) == {"c": 0.5, "p": float("inf"), "decision": Sweep(Cautious(0.3))}
    with pytest.raises(RecipeError, match="for the environment GSP/FrozenLake-v0"):
        lake(env="FourRooms", preset=path)
    with pytest.raises(RecipeError, match="for the algorithm gs-power-uct"):
        lake(algorithm="uct", preset=path)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"budget": 0}, "budget: simulations must be a whole number of at least 1, not 0"),
        ({"budget": 2.5}, "budget: simulations must be"),
        ({"budget": 2**63}, "may be at most"),
        ({"budget": "many"}, "not 'many'"),
        ({"seed": -1}, "a seed must be a whole number"),
        ({"seed": "x"}, "a seed must be a whole number"),
        ({"seed": True}, "a seed must be a whole number"),
        ({"seed": None}, "seed: input should be a valid integer, not None"),
        ({"seed": 2**63}, "seed: input should be less than or equal to 9223372036854775807, not"),
        ({"preset": 5}, "preset: input should be a valid string, not 5"),
        ({"options": 5}, "are a table of names and values, not 5"),
        ({"options": ["p"]}, "a setting is written key=value, not 'p'"),
        ({"options": {"horizon": "FixedHorizn(3)"}}, "Did you mean 'FixedHorizon'"),
        ({"options": {"selection": Custom(140_000_000)}}, "Custom takes a function, which cannot be written as text"),
        ({"env_options": 5}, "are a table of names and values, not 5"),
        ({"env_options": {"x": object()}}, "are written as JSON"),
        ({"sed": 1}, "unknown key 'sed'. Did you mean 'seed'?"),
        ({"env": "no_such_module:Lake-v0"}, "No module named 'no_such_module'"),
    ],
)
def test_bad_fields_are_refused_with_one_sentence(fields, message):
    with pytest.raises(RecipeError) as refused:
        lake(**fields)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    with pytest.raises(RecipeError, match="there is no env"):
        Cell()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"algorithm": "gs-power-utc"}, "Did you mean 'gs-power-uct'"),
        ({"preset": "papr"}, "Did you mean 'paper'"),
        ({"options": {"horzion": 3}}, "Did you mean 'horizon'"),
        ({"options": {"preset": "paper"}}, "'preset' is no option"),
        ({"env": "FrozenLak-v0"}, "The benchmarks are GSP/FrozenLake-v0, "),
        ({"env": "NoSuchLake-v7"}, "NoSuchLake"),
        ({"env_options": {"slip": 2}}, "slip must be"),
        ({"env_options": {"slp": 0}}, "Did you mean 'slip'"),
    ],
)
def test_what_cannot_be_made_is_refused(fields, message):
    cell = lake(**fields)
    with pytest.raises(RecipeError, match=message):
        cell.make_agent(cell.make_env())


def test_an_environment_whose_constructor_fails_says_what_it_said(monkeypatch):
    def fails():
        raise ZeroDivisionError("no ice today")

    monkeypatch.setitem(gym.registry, "Iceless-v0", gym.envs.registration.EnvSpec("Iceless-v0", fails))
    with pytest.raises(RecipeError, match="Iceless-v0 cannot be made: ZeroDivisionError: no ice today"):
        lake(env="Iceless-v0").make_env()
