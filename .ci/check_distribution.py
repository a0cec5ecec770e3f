"""The contents of the built distributions: `python .ci/check_distribution.py dist` from the root of the repository.

The wheel holds every file of the package and nothing else, and the licence of every script that it bundles; the sdist
also holds tests, benchmarks, examples and documents.
"""

import sys
import tarfile
import zipfile
from pathlib import Path

PACKAGE = "gymnasium_gsp"
IN_SDIST = ("benchmarks", "docs", "examples", "tests", ".ci", ".github")
FILES_IN_SDIST = ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md", "pyproject.toml")


def files(folder: str) -> set[str]:
    """Return the files of a folder, caches left out."""
    paths = Path(folder).rglob("*")
    return {path.as_posix() for path in paths if path.is_file() and "__pycache__" not in path.parts}


def difference(name: str, expected: set[str], found: set[str]) -> list[str]:
    """Name the files that are missing or do not belong."""
    missing = [f"{name}: {path} is missing" for path in sorted(expected - found)]
    return missing + [f"{name}: {path} does not belong there" for path in sorted(found - expected)]


def main(folder: str) -> int:
    """Print what is wrong; return 1 if anything is."""
    (wheel,), (sdist,) = Path(folder).glob("*.whl"), Path(folder).glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = {name for name in archive.namelist() if ".dist-info/" not in name}
        licences = {Path(name).name for name in archive.namelist() if ".dist-info/licenses/" in name}
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    expected = set(FILES_IN_SDIST).union(*map(files, (PACKAGE, *IN_SDIST)))
    wrong = difference(wheel.name, files(PACKAGE), in_wheel)
    wrong += difference(sdist.name, expected, in_sdist - {"PKG-INFO", ".gitignore", ".pre-commit-config.yaml"})
    scripts = [Path(name).name for name in in_wheel if name.endswith(".min.js")]
    notices = {f"LICENSE-{script.removesuffix('.min.js')}.txt" for script in scripts}
    wrong += difference(f"licences of {wheel.name}", {"LICENSE", *notices}, licences)
    print("\n".join(wrong) or f"{wheel.name} and {sdist.name} hold what they should")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
