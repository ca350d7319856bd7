"""Write a study to one file (Data S1), or check such a file.

python scripts/export.py study=NAME [out=FILE] [overwrite=true] [tracking=server]
python scripts/export.py --verify FILE

Exit status of a check: 0 if the file is whole, 2 if it isn't.
"""

import sys
from pathlib import Path

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.base.errors import UserError
    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None

VERIFY = "--verify"


@hydra.main(version_base="1.3", config_path="../conf", config_name="export")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum_archive import export

        export.export(export.read_config(cfg))


def verify() -> None:
    from plenum_archive import verify as verification

    arguments = sys.argv[1:]
    if len(arguments) == 1:  # --verify=FILE
        arguments = arguments[0].split("=", 1)
    if len(arguments) != 2 or arguments[0] != VERIFY or not arguments[1]:
        raise UserError(f"{VERIFY}: it takes one file and nothing else, as in {VERIFY} s1.zip")
    raise SystemExit(verification.verify(Path(arguments[1])))


if __name__ == "__main__":
    verifying = any(argument.partition("=")[0] == VERIFY for argument in sys.argv[1:])
    front_door(verify if verifying else main, package="plenum_archive")
