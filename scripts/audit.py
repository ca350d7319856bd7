"""Audit whether a program reaches the same decision each time.

python scripts/audit.py committee=FILE.py:NAME case=FOLDER [acceptable=.95 unacceptable=.80]
python scripts/audit.py 'committee.command="python app.py {case}"' case=cases.csv budget.dollars=5
python scripts/audit.py committee.http=URL case=case.yaml dry_run=true
python scripts/audit.py logs=runs.csv suite=true decide=true
python scripts/audit.py committee=FILE.py:NAME case=case.yaml rule=outputs/audit/suite.json

Exit status: 0 stable, 1 unstable, 3 undecided (undecided=pass: 0, fail: 1), 2 for bad input, if no
run reaches a decision, or if a cache answers; 4 if it was stopped or crashed before a verdict (a
provider is down, a budget is spent, a bug); 130 if it was interrupted (Ctrl-C). With rule= it is 0
if the rule acts on every case, and 5 if it leaves one to a person.
"""

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any


def _end_crashed(*error: Any) -> None:
    """End with a status that no verdict has, also where an import needs more memory than there is.

    The front door puts one of its own in this one's place.
    """
    sys.__excepthook__(*error)
    sys.exit(4)


sys.excepthook = _end_crashed

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.base.exits import NO_VERDICT
    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[1]))


@hydra.main(version_base="1.3", config_path="../conf", config_name="audit")
def main(cfg: DictConfig) -> None:
    with one_line_errors(failed=NO_VERDICT):
        from plenum_audit.gate import compose_gate, judge_cases

        status = judge_cases(compose_gate(cfg))
    if status is not None:
        raise SystemExit(status)


def as_hydra_reads_it(argument: str) -> str:
    """``committee=X`` as ``committee.target=X``; the rest as for verdicts."""
    with suppress(ModuleNotFoundError):  # the front door says which package is missing
        from plenum_verdicts.arguments import quote_argument

        argument = quote_argument(argument)
    return re.sub(r"^committee=(?!\{)", "committee.target=", argument)


if __name__ == "__main__":
    sys.argv[1:] = map(as_hydra_reads_it, sys.argv[1:])
    front_door(main, NO_VERDICT, "plenum_audit")
