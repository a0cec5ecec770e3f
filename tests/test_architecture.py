"""The arrows between the rooms, and the rules of the house that a script can hold."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from gymnasium_gsp.algorithms.registry import ALGORITHMS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gymnasium_gsp"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PYTHON = [
    path
    for folder in ("gymnasium_gsp", "tests", "benchmarks", "examples")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
ROOMS = ("abi", "envs", "models", "binding", "search", "algorithms", "inspector", "agents", "exact", "bench", "cli")

# What a room may import of the others; everybody may import errors.  An entry with a dot means that module alone.
ARROWS = {
    "errors": (),
    "ingredients": ("search",),
    "abi": (),
    "envs": ("abi", "models"),
    "models": ("abi",),
    "binding": ("abi", "models"),
    "search": ("abi", "models.model"),
    "algorithms": ("search",),
    "inspector": ("search",),
    "agents": ("algorithms", "abi", "binding", "inspector", "models", "search", "ingredients"),
    "exact": ("abi", "models"),
    "bench": ("envs", "exact", "agents", "algorithms", "inspector", "search", "ingredients", "abi", "models"),
    "cli": ("bench", "envs", "exact", "agents", "algorithms", "inspector", "search", "binding.check"),
    "__main__": ("cli",),
    "": ("envs",),  # the package itself, when it is imported
}
FORBIDDEN = {"search": ("gymnasium",)}  # packages of others that a room does without
INGREDIENTS = sorted((PACKAGE / "search" / "ingredients").glob("*.py"))


def test_the_package_does_without_the_measurements():
    """`benchmarks` is not in the wheel, so nothing in it may import it."""
    for path in SOURCES:
        assert not any(module.partition(".")[0] == "benchmarks" for module, _ in imports(path)), path


def room_of(path):
    """Name of the room a file stands in; "" for the package's own __init__."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imports(path, at_import_only=False):
    """Every module that a file imports, and the names it takes from it as if they were modules, with line numbers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    if at_import_only:
        nodes = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            yield node.module, node.lineno
            if node.module.startswith("gymnasium_gsp"):
                yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def allowed(room, target):
    """Whether a room may import `target`, a module's name without the package's."""
    there = target.partition(".")[0]
    if there in ("errors", room, ""):
        return True
    if any(target == arrow or target.startswith(arrow + ".") for arrow in ARROWS[room]):
        return True
    # `from gymnasium_gsp.search import graph` names the room first; the line with the module itself decides.
    return target == there and any(arrow.startswith(there + ".") for arrow in ARROWS[room])


def violations(path, room):
    found = []
    for module, line in imports(path, at_import_only=room == ""):
        top, _, rest = module.partition(".")
        if top in FORBIDDEN.get(room, ()):
            found.append(f"{path.name}:{line} imports {module}")
        if top != "gymnasium_gsp" or not rest:
            continue
        if rest.partition(".")[0] not in (*ROOMS, "errors", "ingredients"):
            continue  # a name of the package's face, such as __version__
        if not allowed(room, rest):
            found.append(f"{path.name}:{line} imports {module}")
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_arrows_are_held(path):
    """Nothing points upwards: `envs` knows no agent, `search` neither environments nor Gymnasium."""
    room = room_of(path)
    assert room in ARROWS, f"{path}: a room that the table does not know"
    assert violations(path, room) == []


@pytest.mark.parametrize("path", INGREDIENTS, ids=lambda path: path.stem)
def test_ingredients_know_no_engine(path):
    """An ingredient may import other ingredients, and nothing else of the search."""
    of_the_search = [module for module, _ in imports(path) if module.startswith("gymnasium_gsp.search")]
    assert [module for module in of_the_search if not module.startswith("gymnasium_gsp.search.ingredients")] == []


def test_every_file_of_algorithms_is_found():
    """An algorithm is registered because its file stands in the room; no list names it."""
    files = {path.stem for path in (PACKAGE / "algorithms").glob("*.py")} - {"__init__", "registry"}
    modules = [algorithm.recipe.__module__.rpartition(".") for algorithm in ALGORITHMS.values()]
    assert files == {name for room, _, name in modules if room == "gymnasium_gsp.algorithms"}


def test_the_abi_is_spelt_out_once():
    """C pointers are made from numba types in one room alone."""
    for path in SOURCES:
        if path.relative_to(PACKAGE).as_posix() not in ("abi/memory.py", "abi/pointers.py"):
            assert "CPointer" not in path.read_text(encoding="utf-8"), path


def test_a_forbidden_arrow_would_be_found(tmp_path):
    """The police is awake: what each room must not import is found, what it may is not."""
    bad = {
        "envs": "from gymnasium_gsp.agents import agent",
        "models": "import gymnasium_gsp.binding.compiled",
        "search": "def later():\n    import gymnasium as gym",
        "algorithms": "from gymnasium_gsp.agents import seeding",
        "agents": "from gymnasium_gsp import envs",
        "exact": "from gymnasium_gsp.search import search",
    }
    for room, line in bad.items():
        (tmp_path / "bad.py").write_text(line)
        assert violations(tmp_path / "bad.py", room), room
    (tmp_path / "good.py").write_text("from gymnasium_gsp.abi import signatures\nimport gymnasium_gsp.errors")
    assert violations(tmp_path / "good.py", "search") == []
    (tmp_path / "good.py").write_text("from gymnasium_gsp.binding import compiled")
    assert violations(tmp_path / "good.py", "search")


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_are_named_after_what_they_hold(path):
    assert path.stem not in ("utils", "helpers", "common", "manager", "base", "misc", "util", "helper")


STATEMENT = r"import |from \S+ import |return\b|(if|for|while|def|class) .*:$|\S+\(.*\)$|\S+ = \S"


def is_code(comment):
    """Whether a comment reads as a statement of Python."""
    text = comment.lstrip("#").strip()
    if not re.match(STATEMENT, text):
        return False
    try:
        tree = ast.parse(text + ("\n    pass" if text.endswith(":") else ""))
    except SyntaxError:
        return False
    return not (len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Name))


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_comments_are_neither_code_nor_promises(path):
    text = path.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [(token.string, token.start[0]) for token in tokens if token.type == tokenize.COMMENT]
    for comment, line in comments:
        assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", comment), f"{path}:{line}"
        assert not is_code(comment), f"{path}:{line}: {comment}"


def test_code_in_a_comment_would_be_found():
    assert is_code("# total = total + 1")
    assert is_code("# return value")
    assert is_code("#if visits > 0:")
    assert not is_code("# steps from the root of this search")
    assert not is_code("# noqa: B018")
    assert not is_code("# as a mean, so that nothing overflows")
