"""The project's folders and files, and the version of the code that runs."""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from plenum import __version__
from plenum.base.extensions import list_installed_parts
from plenum.base.secrets import strip_secrets

USER_FOLDER = "PLENUM_CONFIG_DIR"
"""The environment variable that holds :func:`user_folder`."""
_IN_WHEEL = Path(__file__).resolve().parents[1] / "_project"
"""The copy of the project's folders that an installed wheel has."""


def project_root() -> Path:
    """Return the folder that holds ``conf/`` and ``scenarios/``.

    ``run.py`` and the scripts set it in ``PLENUM_ROOT``; without it, it is :func:`code_root`.
    Inputs are found from here, outputs go to the working directory.
    """
    named = os.environ.get("PLENUM_ROOT")
    return Path(named) if named else code_root()


def code_root() -> Path:
    """Return the folder that holds ``run.py`` and ``scripts/``.

    It is the checkout that contains this package; in a wheel, the copy that ``setup.py`` makes.
    """
    return _IN_WHEEL if is_wheel() else Path(__file__).resolve().parents[3]


def is_wheel() -> bool:
    """Return whether this package was installed from a wheel, and lies in no checkout."""
    return _IN_WHEEL.is_dir()


_COMMANDS = re.compile(
    r"(?:python \S*)?\bscripts/(\w+)\.py\b|python (?:\S*/)?run\.py\b"
    r"|(?<![^\s`'])run\.py(?='s\b| (?:command|has this|-|\w+=))|(?<=s of )run\.py"
)
"""Commands of the checkout; a user's own file may be called run.py, which errors then name."""


def as_typed(text: str) -> str:
    """Return a text with commands as a user types them: ``plenum tables`` where a wheel is used."""
    if not is_wheel():
        return text
    return re.sub(_COMMANDS, _name_command, text)


def _name_command(found: re.Match[str]) -> str:
    name = found[1] or "run"
    known = name == "run" or (code_root() / f"scripts/{name}.py").is_file()
    return f"plenum {name}" if known else found[0]


def config_folders() -> tuple[Path, ...]:
    """Return the folders of configs and prompts: the project's ``conf/``, then each package's.

    A package that has a folder ``conf`` names itself by an entry point of ``plenum.conf``.
    """
    return (project_root() / "conf", *(folder for folder in _packages().values() if folder))


def absent_packages() -> list[str]:
    """Return the packages that name a folder of configs and aren't there, such as deleted ones."""
    return [name for name, folder in _packages().items() if folder is None]


def list_config_packages() -> list[str]:
    """List the packages that name a folder of configs and are there."""
    return [name for name, folder in _packages().items() if folder is not None]


@cache
def _packages() -> Mapping[str, Path | None]:
    """Return the folders of configs by package, ``None`` for one that Python can't find."""
    names = sorted(entry.value for entry in list_installed_parts("plenum.conf"))
    return {name: next(filter(Path.is_dir, _places(name)), None) for name in names}


def _places(package: str) -> Iterator[Path]:
    """Yield where the configs of a package may lie, without an import of it."""
    spec = find_spec(package)
    for place in (spec and spec.submodule_search_locations) or ():
        yield Path(place, "conf")


def user_folder() -> Path | None:
    """Return the folder of a user's own roles, models, experiments and texts, or ``None``.

    The scripts' ``--config-dir`` names it, and passes it to child processes by
    ``PLENUM_CONFIG_DIR``. Its layout is that of ``conf/``, with ``scenarios/`` in it.
    """
    named = os.environ.get(USER_FOLDER)
    return Path(named) if named else None


def resolve_path(file: str) -> Path:
    """Resolve a path from a config: a relative one starts at the root or :func:`user_folder`.

    In a wheel it may also start at the working directory: nobody puts files of their own beside
    the packages.
    """
    path = Path(file).expanduser()
    if path.is_absolute():
        return path
    here = Path.cwd() if is_wheel() else project_root()
    return next(filter(Path.exists, (*candidate_paths(file), here / path)), here / path)


def candidate_paths(path: str) -> list[Path]:
    """List the paths that a file or folder may have.

    Below ``conf`` it may be in each of :func:`config_folders` and in :func:`user_folder`.
    """
    top, _, rest = path.partition("/")
    if top != "conf":
        return [project_root() / path]
    folders = (*config_folders(), user_folder())
    return [folder / rest for folder in folders if folder]


@cache
def code_version() -> str:
    """Return the package version, with the commit if the code is a git checkout."""
    commit = describe_commit(Path(__file__).parent)
    return f"{__version__}+{commit}" if commit else __version__


def describe_commit(folder: Path, *how: str) -> str:
    """Describe the commit of a folder's git checkout; empty outside of one."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", *how],
            cwd=folder,
            env=strip_secrets(os.environ),
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


@cache
def code_digest() -> str:
    """Hash the code that runs: the packages' files, the interpreter, the libraries' names.

    Unlike :func:`code_version` it changes with every edit that isn't committed.
    """
    packages = Path(__file__).resolve().parents[2]
    digest = hashlib.blake2b(sys.version.encode(), digest_size=16)
    for path in sorted(packages.glob("plenum*/**/*")):
        if path.is_file() and path.suffix != ".pyc":
            data = path.read_bytes()
            digest.update(f"{path.relative_to(packages)} {len(data)} ".encode() + data)
    for folder in map(Path, sys.path):
        installed = folder.glob("*.dist-info") if folder.name.endswith("-packages") else ()
        digest.update(" ".join(sorted(path.name for path in installed)).encode())
    return digest.hexdigest()
