"""Run the tests as on other machines, and print the failures.

    python scripts/elsewhere.py [ENVIRONMENT ...] [--together] [-- PYTEST ARGUMENTS]

- baseline  numpy without the processor's features that it can do without
- haswell   OpenBLAS's kernels for Haswell
- prescott  OpenBLAS's kernels for Prescott
- nohup     without a terminal, hang-ups and Ctrl-C ignored, as under `nohup ... &`
- space     a checkout below a folder with a space in its name

Without a name, all of them are run, one after the other: about 25 minutes each on two cores, or
5 with `-- -m "not long"`, the tests of `make test`.
`--together` runs the named ones at once; baseline, prescott, nohup and space can be combined.
Arguments after `--` go to pytest: `-- tests/plenum/dynamics -n 0`.

The tests of this checkout, with uncommitted changes, run in a clone in a temporary folder. The last
line is JSON: the failed tests of each environment. Exit status 1 if there are any.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ("baseline", "haswell", "prescott", "nohup", "space")

_FEATURES = """
from numpy._core import _multiarray_umath as m
print(*(f for f in m.__cpu_dispatch__ if m.__cpu_features__.get(f)))
"""
_TESTS_FAILED = 1
"""Pytest's exit status where tests failed; others but 0 mean that it couldn't run them."""


def main() -> int:
    """Run what the command line asks for; returns the exit status."""
    given, pytest = _arguments()
    named = given.environments or ENVIRONMENTS
    runs = [tuple(named)] if given.together else [(name,) for name in named]
    failed = {"+".join(run): failures(run, pytest) for run in runs}
    for name, tests in failed.items():
        print(f"{name}: {len(tests)} failed" if tests else f"{name}: all pass")
        for test in tests:
            print(f"  {test}")
    print(json.dumps(failed))
    return 1 if any(failed.values()) else 0


def _arguments() -> tuple[argparse.Namespace, list[str]]:
    """The options, and what goes to pytest."""
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("environments", nargs="*", metavar="ENVIRONMENT")
    parser.add_argument("--together", action="store_true", help="in one run")
    given = parser.parse_args(words[:at])
    unknown = [name for name in given.environments if name not in ENVIRONMENTS]
    if unknown:
        parser.error(f"{', '.join(unknown)}: none of {', '.join(ENVIRONMENTS)}")
    return given, words[at + 1 :]


def failures(names: Sequence[str], pytest: Sequence[str] = ()) -> list[str]:
    """The tests that fail where all these environments hold at once.

    Parameters
    ----------
    names
        Of :data:`ENVIRONMENTS`.
    pytest
        Arguments for pytest; none runs all tests.

    Raises
    ------
    SystemExit
        Pytest couldn't run them; with what it said.
    """
    with tempfile.TemporaryDirectory(prefix="plenum-elsewhere-") as folder:
        checkout = Path(folder, "a clone" if "space" in names else "clone")
        _clone(checkout)
        hangs_up = "nohup" in names
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", *pytest]
        print(f"{'+'.join(names)}: {' '.join(command[1:])}", flush=True)
        done = subprocess.run(
            command,
            cwd=checkout,
            env=_environment(names, checkout),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=hangs_up,
            preexec_fn=_ignore_signals if hangs_up else None,
        )
    found = re.findall(r"^(?:FAILED|ERROR) (\S+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode not in (0, _TESTS_FAILED) or (done.returncode and not found):
        raise SystemExit(f"pytest ended with {done.returncode}:\n{done.stdout[-4000:]}")
    if found:
        print(done.stdout[-20_000:])
    return list(dict.fromkeys(found))


def _clone(checkout: Path) -> None:
    """A checkout of the last commit, with what was changed since and what git doesn't know yet."""
    subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(checkout)], check=True)
    given = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = [
        subprocess.run([*given, *which], capture_output=True, text=True, check=True).stdout
        for which in (["-md"], ["-o", "--exclude-standard"])
    ]
    for name in filter(None, "".join(listed).split("\0")):
        source, copy = ROOT / name, checkout / name
        copy.unlink(missing_ok=True)
        if source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)


def _environment(names: Sequence[str], checkout: Path) -> dict[str, str]:
    """The variables of a run; plenum is imported from the clone."""
    kernels = [name.title() for name in names if name in ("haswell", "prescott")]
    if len(kernels) > 1:
        raise SystemExit("haswell and prescott don't go together")
    variables = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    if kernels:
        variables["OPENBLAS_CORETYPE"] = kernels[0]
    if "baseline" in names:
        shown = subprocess.run([sys.executable, "-c", _FEATURES], capture_output=True, text=True)
        variables["NPY_DISABLE_CPU_FEATURES"] = shown.stdout.strip()
    return variables


def _ignore_signals() -> None:
    """As a shell does for `nohup ... &`."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(main())
