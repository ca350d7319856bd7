"""Fit models of committees to the authors' released runs, and measure how well they predict others.

python scripts/fit.py published=CLONE [study=landscape] [pilots=[3,5,10]] [out=FOLDER]
"""

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="fit")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum_fit import publish_fit

        publish_fit(cfg)


if __name__ == "__main__":
    front_door(main, package="plenum_fit")
