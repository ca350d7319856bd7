"""Print the exact prompt of any call of a study, or its answer.

python scripts/prompt.py study=NAME condition=IDENTITY [replicate=0] round=3 seat=Chair [call=turn]
                         [answer=true]
"""

import os
from pathlib import Path

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[1]))


@hydra.main(version_base="1.3", config_path="../conf", config_name="prompt")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from study_prompt import WantedCall, show_call

        from plenum.reports.settings import read_study_settings

        show_call(read_study_settings(WantedCall, cfg))


if __name__ == "__main__":
    front_door(main)
