"""Show a study as a page: watch it, search it, compare runs.

python scripts/explore.py study=NAME [condition=IDENTITY] [replicates=N] [out=FILE]
python scripts/explore.py study=NAME live=true
"""

try:
    from pathlib import Path

    import hydra
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import DictConfig

    from plenum.base.errors import UserError
    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="explore")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.reports.explorer.publish import ExploredStudy, publish_explorer
        from plenum.reports.settings import read_study_settings

        chosen = read_study_settings(ExploredStudy, cfg)
        if not chosen.live:
            return publish_explorer(chosen)
        # By what was typed: `out` always has a value, so its value doesn't tell.
        given = {each.partition("=")[0] for each in HydraConfig.get().overrides.task}
        if given & {"condition", "replicates", "out"}:
            raise UserError("live: it shows a study whole; leave out condition, replicates and out")
        from plenum.reports.explorer.serve import serve_page

        serve_page(chosen, Path(chosen.journals))


if __name__ == "__main__":
    front_door(main)
