"""Ask a model one prompt n times, and compare the answers.

python scripts/probe.py model=gpt-4.1-mini [n=20] [scenario=IM-01] [temperature=t0] [tracking=none]
python scripts/probe.py prove=true model.default=PROVIDER/MODEL    what it honours, for cents
"""

import os
from pathlib import Path

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.base.errors import Stopped
    from plenum.base.exits import FAILED
    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[1]))


@hydra.main(version_base="1.3", config_path="../conf", config_name="probe")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.checks.dry_run import show_dry_run
        from plenum.checks.probe import make_probe_jobs, read_probe_settings, run_probe
        from plenum.checks.probe_report import publish_probe

        if cfg.prove:
            from proof import prove

            if not prove(cfg):
                raise SystemExit(FAILED)
            return
        request = read_probe_settings(cfg)
        jobs, uri = make_probe_jobs(request), request.job.tracking_uri
        if request.job.dry_run:
            show_dry_run(jobs)
            return
        try:
            complete = run_probe(jobs)
        except (KeyboardInterrupt, Stopped):
            publish_probe(jobs, uri)  # what came before
            raise
        publish_probe(jobs, uri)
        if not complete:
            raise SystemExit(FAILED)


if __name__ == "__main__":
    front_door(main)
