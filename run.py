"""Run committees: a job is one condition, `-m` sweeps several.

python run.py -m roles=on,off model=uniform,mixed
python run.py --help
"""

import os
import sys
from pathlib import Path

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    line = f"error: {sys.executable} has no {missing.name}; run make, then .venv/bin/python run.py"
    print(line, file=sys.stderr)
    raise SystemExit(2) from None

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parent))


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.checks.dry_run import show_dry_run
        from plenum.execution.hydra_jobs import run_job

        run_job(cfg, show_dry_run)


if __name__ == "__main__":
    front_door(main)
