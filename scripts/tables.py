"""Print a study's tables with a summary, and write them.

python scripts/tables.py study=NAME [window=[3,20]] [tracking=server] [out=FOLDER]
python scripts/tables.py study=NAME table=all      every table, not only what fits a screen
python scripts/tables.py table=s5 [study=NAME]     a table of the papers by its number
python scripts/tables.py table=list
python scripts/tables.py study=NAME rules=all      what other rules would have decided
"""

import re
import sys
from dataclasses import replace

try:
    import hydra
    from omegaconf import DictConfig, OmegaConf

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="tables")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.reports.results import publish_results
        from plenum.reports.settings import check_report_settings

        if cfg.rules is not None:
            from plenum_rules.publish import publish_rules

            publish_rules(cfg)
            return
        every = cfg.table == "all" and not OmegaConf.is_missing(cfg, "study")
        if every or cfg.table is None:
            publish_results(replace(check_report_settings(cfg), every=every))
        else:
            from plenum_papers.items import publish

            publish.publish_items(cfg)


def listed(argument: str) -> str:
    """``table=s1,s5`` as ``table=[s1,s5]``: Hydra takes commas for a sweep."""
    return re.sub(r"^(table|study|rules)=([^\[\"'=]*,[^\[\"'=]*)$", r"\1=[\2]", argument)


if __name__ == "__main__":
    sys.argv[1:] = map(listed, sys.argv[1:])
    front_door(main)
