"""Show the progress and the cost of a study.

python scripts/status.py study=NAME [journals=FOLDER] [tracking=server]
"""

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="status")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        import study_status

        study_status.show_study(study_status.settings(cfg))


if __name__ == "__main__":
    front_door(main)
