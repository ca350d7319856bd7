"""Ask a model one prompt n times, and report how far the answers differ (section S1).

python scripts/probe.py model=gpt-4.1-mini [n=20] [scenario=HL-01] [temperature=t0] [tracking=none]
"""

import os
from pathlib import Path

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.base import FAILED, INTERRUPTED
    from plenum.base.terminal import say
    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[1]))


@hydra.main(version_base="1.3", config_path="../conf", config_name="probe")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum_checks import determinism, determinism_report

        request = determinism.settings(cfg)
        if request.job.dry_run:
            print(determinism.plan(request))
            return
        document = determinism.probe(request)
        if determinism.answered(document) or not document["stopped"]:
            determinism_report.publish(document, request.out, request.job.tracking_uri)
    if why := determinism.cut_short(document):
        say(why)
        raise SystemExit(INTERRUPTED if document["stopped"] == determinism.INTERRUPTED else FAILED)


if __name__ == "__main__":
    front_door(main, package="plenum_checks")
