"""Where an episode was played: versions of the packages, and the machine."""

import json
import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

import gymnasium
import numba
import numpy

import gymnasium_gsp


@cache
def versions() -> str:
    """JSON object: the versions of gymnasium_gsp, gymnasium, numpy, numba, LLVM and Python."""
    from llvmlite.binding import llvm_version_info

    packages = (gymnasium_gsp, gymnasium, numpy, numba)
    known = {package.__name__: package.__version__ for package in packages}
    known |= {"python": platform.python_version(), "llvm": ".".join(map(str, llvm_version_info))}
    return json.dumps(known, sort_keys=True)


@cache
def machine() -> str:
    """JSON object: the model of the processor, the number of cores, and the system; no host name."""
    known = {"cpu": _processor(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"}
    return json.dumps(known, sort_keys=True)


def package_version(versions_text: str) -> str:
    """The version of gymnasium_gsp in a text that `versions` made."""
    return str(json.loads(versions_text).get("gymnasium_gsp"))


def package_of(kind: type) -> str:
    """The package that a class comes from, with its version where it is an installed one."""
    package = kind.__module__.partition(".")[0]
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return package


def _processor() -> str:
    """The processor's name; Linux has it only in a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
