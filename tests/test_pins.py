"""What is installed: every package by version and hash, the image by digest, and nobody is root."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
_PIN = re.compile(
    r"([a-z0-9.-]+)==([0-9][^ ]*) (?:; [^\\]+ )?\\((?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)+)\n"
)


@pytest.fixture(scope="module")
def pins() -> dict[str, str]:
    """Versions by name; everything in the file beside its first line is a pin with hashes."""
    _comment, _, text = (ROOT / "constraints.txt").read_text().partition("\n")
    assert _PIN.sub("", text) == ""
    return {name: version for name, version, _hashes in _PIN.findall(text)}


def test_every_dependency_of_every_extra_is_pinned_within_its_range(pins: dict[str, str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    lines = [*project["dependencies"], *(line for extra in extras for line in extra)]
    for requirement in map(Requirement, [*lines, "pip", "setuptools"]):
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)])


def test_malicious_releases_of_litellm_are_out_of_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (litellm,) = [Requirement(d) for d in project["dependencies"] if d.startswith("litellm")]
    assert not any(litellm.specifier.contains(bad) for bad in ("1.82.7", "1.82.8"))


def test_an_unknown_extra_is_refused_before_anything_is_installed() -> None:
    command = ["sh", str(ROOT / "scripts/install.sh"), sys.executable, "hostedd"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "hosted" in done.stderr


def test_the_image_is_named_by_digest_and_runs_as_nobody_in_particular() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    bases = [line for line in lines if line.startswith("FROM ")]
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert all(re.search(r"@sha256:[0-9a-f]{64}$", base) for base in bases)
    assert users
    assert not users[-1].startswith(("root", "0"))
