"""Check a study's archive and bring it into a tracking store.

python scripts/import.py archive=FILE [study=NEW] [tracking=server] [journals=FOLDER]

A call that was stopped goes on where the same command is given again.
"""

import hydra
from omegaconf import DictConfig

from plenum.cli import front_door, one_line_errors


@hydra.main(version_base="1.3", config_path="../conf", config_name="import")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.archive import import_

        import_.bring_back(import_.read_config(cfg))


if __name__ == "__main__":
    front_door(main)
