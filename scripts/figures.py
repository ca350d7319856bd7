"""Draw a study's figures as PNG and SVG.

python scripts/figures.py study=NAME [figure=NAME|[NAMES]] [window=[3,20]] [tracking=server]
                          [out=FOLDER]
"""

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="figures")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.reports.settings import check_report_settings, read_names
        from plenum.reports.study import find_study_kind

        chosen = check_report_settings(cfg)
        kind = find_study_kind(chosen.study, chosen.uri)
        kind.publish_figures(chosen, read_names(cfg.figure) or None)


if __name__ == "__main__":
    front_door(main)
