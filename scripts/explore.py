"""Write a study's explorer: two replicates side by side.

python scripts/explore.py study=NAME [condition=IDENTITY] [replicates=N] [out=FILE]
"""

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="explore")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.reports.explorer.publish import ExploredStudy, publish_explorer
        from plenum.reports.settings import read_study_settings

        publish_explorer(read_study_settings(ExploredStudy, cfg))


if __name__ == "__main__":
    front_door(main)
