"""Measure how often estimates are right, on processes with a known λ.

python scripts/calibrate.py [draws=1500] [workers=N] [out=docs]
"""

import json
import os

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="calibrate")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.design import read_settings
        from plenum.reports import Calibration
        from plenum_checks import calibration_page

        settings = read_settings(Calibration, cfg)
        workers = settings.workers or os.cpu_count() or 1
        figures = calibration_page.publish(settings.draws, workers, settings.out)
        print(json.dumps({name: round(value, 4) for name, value in figures.items()}))


if __name__ == "__main__":
    front_door(main, package="plenum_checks")
