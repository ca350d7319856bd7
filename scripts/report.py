"""Write a study's report as one HTML page and as Markdown.

python scripts/report.py study=NAME [window=[3,20]] [tracking=server] [out=FOLDER]
"""

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="report")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.reports.page.publish import publish_report
        from plenum.reports.settings import check_report_settings

        publish_report(check_report_settings(cfg))


if __name__ == "__main__":
    front_door(main)
