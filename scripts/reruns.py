"""Compare the bytes of a study's reruns.

python scripts/reruns.py study=NAME [journals=FOLDER] [tracking=server] [out=FOLDER]

Exit status: 0 where all that can be compared is equal, 1 where something differs, 2 for bad input.
"""

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="reruns")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.reports.settings import read_study_settings
        from plenum_hosted import reruns

        raise SystemExit(reruns.publish(read_study_settings(reruns.RerunSettings, cfg)))


if __name__ == "__main__":
    front_door(main, package="plenum_hosted")
