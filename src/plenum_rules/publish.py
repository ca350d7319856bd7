"""Rules on recorded runs, for ``scripts/tables.py rules=all``: read, evaluated and published."""

import copy
from dataclasses import replace

from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.design.ranges import require
from plenum.reports.figures.publish import save_captioned
from plenum.reports.publication import Product, print_written, publish_product
from plenum.reports.settings import check_report_settings, read_names
from plenum.reports.study import find_study_kind
from plenum.tracking.report_run import log_report
from plenum.tracking.study import Study
from plenum_rules.evaluation import choose_rules, evaluate, tabulate_conditions, tabulate_rules
from plenum_rules.figure import draw_rules
from plenum_rules.recorded_runs import read_recorded
from plenum_rules.tables import make_tables

_SEVERAL = "rules"
"""The name of the folder for several studies together."""


def publish_rules(cfg: DictConfig) -> None:
    """Apply rules to the runs of one or more studies; print, write and log what they show.

    Raises
    ------
    UserError
        A study doesn't exist or has no committees, or a rule is unknown.
    """
    rules = choose_rules(read_names(cfg.rules))
    names = read_names(cfg.study)
    if not names:
        raise UserError("study: missing; name one or more, as in study=hl01_2x2")
    filled = copy.deepcopy(cfg)
    filled.study = names[0] if len(names) == 1 else _SEVERAL
    chosen = check_report_settings(filled)
    if len(names) > 1:  # what several studies show is logged to none of them
        chosen = replace(chosen, study="")
    for name in names:
        held = find_study_kind(name, chosen.uri)
        only = f"study: it holds {held.plural}; rules: only for committees"
        require(held.name == "committee", only)
    recorded = (runs for name in names for runs in read_recorded(Study(name, chosen.uri)))
    evaluated = evaluate(recorded, rules)
    frame = tabulate_rules(evaluated, rules)
    tables = make_tables(frame, evaluated)
    product = Product(
        stem="rules",
        tables=tables,
        frames={"rules": frame, "rules_conditions": tabulate_conditions(evaluated)},
        heading=f"Other rules for {', '.join(names)}",
    )
    publish_product(product, replace(chosen, every=True))
    figure = draw_rules(frame, evaluated.conditions)
    files = save_captioned({"rules": figure}, chosen.out, captioned=chosen.captions)
    if chosen.study:
        log_report(chosen.study, chosen.uri, files)
    print_written(files)
