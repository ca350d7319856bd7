"""Compare what users rely on with the golden files, or write these anew.

python -m tests.golden [CASE ...] [--write]

Runs small studies through the command line (simulated and hosted, none calls anybody) and compares
identities, journals, prompts, what is in MLflow, CSV files, figures' data, printed tables, archives
and exit statuses. Exit status 1 where something differs. ``--write`` runs everything twice, refuses
what differs between the two, and replaces the golden files: do so only for a change that users are
meant to see, and look at the difference in git.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from . import comparing
from .running import Runner
from .studies import CASES, Case


def main() -> int:
    """Compare or write; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [case.name for case in CASES]
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(names)}")
    parser.add_argument("--write", action="store_true", help="write the golden files anew")
    given = parser.parse_args()
    unknown = [name for name in given.cases if name not in names]
    if unknown:
        parser.error(f"{', '.join(unknown)}: none of {', '.join(names)}")
    cases = [case for case in CASES if not given.cases or case.name in given.cases]
    return _write(cases) if given.write else _compare(cases)


def _compare(cases: Sequence[Case]) -> int:
    differ = 0
    with tempfile.TemporaryDirectory() as work:
        runner = Runner(Path(work))
        for case in cases:
            began = time.perf_counter()
            golden, files = comparing.read(case.name), runner.run(case)
            lines = list(comparing.differences(golden, files))
            outcome = f"{len(lines)} differences" if lines else "as before"
            if lines and comparing.another_machine(golden, files):
                outcome += ", as a hosted model may answer on another machine"
            else:
                differ += len(lines)
            seconds = time.perf_counter() - began
            print(f"{case.name}: {outcome} in {len(files)} files ({seconds:.1f} s)", flush=True)
            if lines:
                print(comparing.summary([f"  {line}" for line in lines]), flush=True)
    return 1 if differ else 0


def _write(cases: Sequence[Case]) -> int:
    snapshots = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as work:
            runner = Runner(Path(work))
            snapshots.append({case.name: runner.run(case) for case in cases})
    written, repeated = snapshots
    status = 0
    for name, files in written.items():
        lines = list(comparing.differences(comparing.reread(files), repeated[name]))
        if lines:
            status = 1
            print(f"{name}: two runs differ, nothing is written; masking.py says what is masked")
            print(comparing.summary([f"  {line}" for line in lines]))
        else:
            comparing.write(name, files)
            print(f"{name}: {len(files)} files written")
    return status


if __name__ == "__main__":
    sys.exit(main())
