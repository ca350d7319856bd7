"""Run a program until it is clear whether it decides alike: a verdict for people, and for CI.

python scripts/audit.py committee=FILE.py:NAME case=FOLDER [acceptable=.95 unacceptable=.80]
python scripts/audit.py 'committee.command="python app.py {case}"' case=cases.csv budget.dollars=5
python scripts/audit.py committee.http=URL case=case.yaml dry_run=true

Exit status: 0 stable, 1 unstable, 3 undecided (undecided=pass: 0, fail: 1), 2 for bad input.
"""

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import hydra
from omegaconf import DictConfig

from plenum.cli import front_door, one_line_errors

if TYPE_CHECKING:
    from plenum.execution.audit import AuditResult
    from plenum.programs.compose import Audit

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[1]))


@hydra.main(version_base="1.3", config_path="../conf", config_name="audit")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.execution import audit
        from plenum.programs.compose import compose

        composed = compose(cfg)
        result = audit.run(composed)
        if result is None:
            return
        if composed.jobs[0].tracking_uri is None:
            print("\n".join(result.lines()))
        else:
            _publish(composed, result)
    raise SystemExit(result.status(composed.settings.undecided))


def _publish(composed: "Audit", result: "AuditResult") -> None:
    """Write the page, audit.json, JUnit XML, a badge and Markdown, and print the verdict."""
    from plenum.reports.audit.publish import publish
    from plenum.reports.settings import Settings

    job, own = composed.jobs[0], composed.settings
    if not any(case.runs for case in result.cases.values()):
        print("\n".join(result.lines()))
        return
    chosen = Settings(job.study, str(job.tracking_uri), Path(own.out))
    publish(chosen, result.family.rule, own.max_runs)
    print("\n".join(result.notes()))


def as_hydra_reads_it(argument: str) -> str:
    """``committee=X`` as ``committee.target=X``, and a command line in quotes of its own."""
    key, _, value = argument.partition("=")
    if key == "committee.command" and value[:1] + value[-1:] not in ('""', "''"):
        mark = "'" if '"' in value else '"'
        return f"{key}={mark}{value}{mark}"
    return re.sub(r"^committee=(?!\{)", "committee.target=", argument)


if __name__ == "__main__":
    sys.argv[1:] = map(as_hydra_reads_it, sys.argv[1:])
    front_door(main)
