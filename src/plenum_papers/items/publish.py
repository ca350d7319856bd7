"""The numbered tables of `scripts/tables.py`: selection, printing, writing and logging."""

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from omegaconf import DictConfig, OmegaConf

from plenum.base.errors import UserError
from plenum.design.kinds import KINDS
from plenum.reports.publication import Product, publish_product
from plenum.reports.settings import Settings, check_report_settings, read_names
from plenum.reports.study import find_study_kind
from plenum_papers.items import items
from plenum_papers.items.catalogue import BY_KIND, CATALOGUE
from plenum_papers.items.source import NumberedTable, TableSource
from plenum_papers.studies import run_or_imported

ALL, PAPERS, LIST = "all", "papers", "list"

_LINES = 60
"""Number of lines from which tables are written but not printed."""

_PREFIX = re.compile(r"^tab(?:le)?\.?[\s-]*")


def publish_items(cfg: DictConfig) -> None:
    """Make all requested tables, then print and write them.

    Raises
    ------
    UserError
        A table is unknown, a study doesn't exist, or it lacks the data for a table.
    """
    names = tabulate_items(cfg)
    studies = () if OmegaConf.is_missing(cfg, "study") else read_names(cfg.study)
    if LIST in names:
        _list()
        return
    chosen = _settings(cfg, studies)
    every = PAPERS in names
    requested = list(CATALOGUE) if every else names
    for source, name, numbered in list(_list_tables(chosen, requested, studies, every)):
        product = Product(
            stem=f"table_{name}",
            frames={f"table_{name}": numbered.frame},
            tables=numbered.tables,
            printed=[table for table in numbered.tables if len(table) <= _LINES],
        )
        publish_product(product, replace(chosen, study=source.names[0] if source.names else ""))
        print()


def tabulate_items(cfg: DictConfig) -> list[str]:
    """Return the names of the requested tables, such as ``s5``, without duplicates.

    Raises
    ------
    UserError
        A table is unknown.
    """
    given = [_PREFIX.sub("", name.lower()) for name in read_names(cfg.table)]
    names = [PAPERS if name == ALL else name for name in given]
    for name in names:
        if name not in (*CATALOGUE, PAPERS, LIST):
            raise UserError(f"table: {name}; one of {', '.join((ALL, *CATALOGUE, PAPERS, LIST))}")
    return list(dict.fromkeys(names))


def _settings(cfg: DictConfig, studies: Sequence[str]) -> Settings:
    """Return the settings of the first study; without one, files go to ``outputs/papers``."""
    filled = copy.deepcopy(cfg)
    filled.study = studies[0] if studies else "papers"
    chosen = check_report_settings(filled)
    return chosen if studies else replace(chosen, study="")


def _list_tables(
    chosen: Settings, requested: Sequence[str], studies: tuple[str, ...], every: bool
) -> Iterator[tuple[TableSource, str, NumberedTable]]:
    """Yield every table with its source and name.

    With ``every``, tables for which the studies lack data are skipped.
    """
    sources: dict[tuple[str, ...], TableSource] = {}
    for name in requested:
        names = _studies(chosen, name, studies, every=every)
        if names is None:
            continue
        first = replace(chosen, study=names[0]) if names else chosen
        source = sources.setdefault(names, TableSource(first, names))
        numbered = CATALOGUE[name].make(source)
        if numbered is not None:
            yield source, name, numbered
        elif not every:
            raise UserError(
                f"table: {name}; study {', '.join(names)} has nothing for it: "
                f"it needs {CATALOGUE[name].needs}"
            )


def _studies(
    chosen: Settings, name: str, studies: tuple[str, ...], *, every: bool
) -> tuple[str, ...] | None:
    """Return the named studies, or those of the paper's table that have been run.

    ``None`` if none has been run and every table was requested.
    """
    for study in studies:
        kind = find_study_kind(study, chosen.uri)
        if kind.name not in BY_KIND:
            having = " and ".join(KINDS[each].plural for each in BY_KIND)
            raise UserError(f"study: it holds {kind.plural}; paper tables: only for {having}")
        if name not in (own := BY_KIND[kind.name]):
            if every:
                return None
            raise UserError(
                f"table: {name}; study {study} holds {kind.plural}: one of {', '.join(own)}"
            )
    if name == "s4":
        return studies[:1]
    item = items.find_item(name)
    if studies or (item is None and every):
        return studies or None
    if item is None:
        raise UserError(f"study: missing; table={name} needs one, as in study=hl01_2x2")
    run = run_or_imported(item.study_names, chosen.uri)
    left = [study.command() for study in item.studies if study.study not in run]
    if not run and not every:
        names = ", ".join(item.study_names)
        raise UserError(f"study: table {name} is of {names}; none has been run yet: {left[0]}")
    if run and left:
        print(f"table {name}: not run yet, left out: {'; '.join(left)}")
    return tuple(run.values()) or None


def _list() -> None:
    for table in CATALOGUE.values():
        item = items.find_item(table.name)
        studies = ", ".join(item.study_names) if item else ""
        print(f"{table.name:<12}{table.shows:<54}{studies}".rstrip())
