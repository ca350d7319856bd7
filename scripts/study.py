"""List, rename or delete studies, or drop a condition of one.

python scripts/study.py
python scripts/study.py study=NAME list|rename=NEW|delete|restore|drop=CONDITION [yes=true]
"""

import sys

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.base.errors import UserError
    from plenum.cli import front_door, one_line_errors
    from plenum.design.ranges import require_one_of
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None

WORDS = ("list", "delete", "restore")


@hydra.main(version_base="1.3", config_path="../conf", config_name="study")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        import study_commands

        study_commands.manage(study_commands.request(cfg))


def override(argument: str) -> str:
    """An argument as Hydra reads it: a bare word is an action, and an id no number."""
    if argument in WORDS:
        return f"action={argument}"
    key, _, value = argument.partition("=")
    return f"{key}='{value}'" if key == "drop" and value.isalnum() else argument


def one_word(arguments: list[str]) -> None:
    """Refuse two bare words, and one that names no action.

    Raises
    ------
    UserError
        There are.
    """
    words = [word for word in arguments if word.isalpha()]
    if len(words) > 1:
        raise UserError(f"{words[1]}: one thing at a time, not {' and '.join(words)}")
    for word in words:
        require_one_of("action", word, (*WORDS, "rename=NEW", "drop=CONDITION"))


if __name__ == "__main__":
    with one_line_errors():
        one_word(sys.argv[1:])
    sys.argv[1:] = map(override, sys.argv[1:])
    front_door(main)
