"""List studies and their conditions, rename or delete a study, or drop a condition of it.

python scripts/study.py
python scripts/study.py study=NAME list|rename=NEW|delete|restore|drop=CONDITION [yes=true]
"""

import sys

import hydra
from omegaconf import DictConfig

from plenum.cli import front_door, told

WORDS = ("list", "delete", "restore")


@hydra.main(version_base="1.3", config_path="../conf", config_name="study")
def main(cfg: DictConfig) -> None:
    with told():
        from plenum.reports import managing

        managing.manage(managing.request(cfg))


def override(argument: str) -> str:
    """An argument as Hydra reads it: a bare word is an action, and an id no number."""
    if argument in WORDS:
        return f"action={argument}"
    key, _, value = argument.partition("=")
    return f"{key}='{value}'" if key == "drop" and value.isalnum() else argument


if __name__ == "__main__":
    sys.argv[1:] = map(override, sys.argv[1:])
    front_door(main)
