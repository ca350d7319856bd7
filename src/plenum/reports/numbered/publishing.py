"""Print tables by the papers' numbers, write them in four formats, and log them to MLflow."""

from collections.abc import Sequence
from dataclasses import replace

from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.reports import papers
from plenum.reports.numbered import asked
from plenum.reports.numbered.catalogue import CATALOGUE, Numbered
from plenum.reports.numbered.source import Made, Source
from plenum.reports.publishing import Product, publish_product
from plenum.reports.settings import Settings
from plenum.reports.study import kind_of
from plenum.tracking.study import exists

_LINES = 60
"""Longer tables are written, not printed."""


def publish(cfg: DictConfig) -> None:
    """Print the tables that are asked for; all of them are made before any is written.

    Raises
    ------
    UserError
        A table isn't known, a study isn't there, or it has nothing for a table.
    """
    names, studies = asked.tables(cfg), asked.studies(cfg)
    if asked.LIST in names:
        _list()
        return
    chosen = asked.chosen(cfg, studies)
    wanted = list(CATALOGUE) if asked.ALL in names else names
    made = _made(chosen, wanted, studies, every=asked.ALL in names)
    for name, (source, table) in made.items():
        product = Product(
            stem=f"table_{name}",
            frames={f"table_{name}": table.frame},
            tables=table.tables,
            printed=[one for one in table.tables if len(one) <= _LINES],
        )
        publish_product(product, replace(chosen, study=source.names[0] if source.names else ""))
        print()


def _made(
    chosen: Settings, wanted: Sequence[str], studies: tuple[str, ...], *, every: bool
) -> dict[str, tuple[Source, Made]]:
    """Every table with its source; of ``every`` table those that the studies have."""
    sources: dict[tuple[str, ...], Source] = {}
    found = {}
    for name in wanted:
        names = _studies(chosen, name, studies, every=every)
        if names is None:
            continue
        first = replace(chosen, study=names[0]) if names else chosen
        source = sources.setdefault(names, Source(first, names))
        made = CATALOGUE[name].make(source)
        if made is not None:
            found[name] = (source, made)
        elif not every:
            raise _nothing(CATALOGUE[name], names)
    return found


def _nothing(table: Numbered, names: Sequence[str]) -> UserError:
    return UserError(
        f"table: {table.name}; study {', '.join(names)} has nothing for it: it needs {table.needs}"
    )


def _studies(
    chosen: Settings, name: str, studies: tuple[str, ...], *, every: bool
) -> tuple[str, ...] | None:
    """The studies that are named, or those of the paper's table that have been run.

    ``None`` where none has, and every table was asked for.
    """
    if name == "s4":
        return studies[:1]
    if studies:
        _of_committees(chosen, studies)
        return studies
    item = papers.of_table(name)
    if item is None:
        if every:
            return None
        raise UserError(f"study: missing; table={name} needs one, as in study=hl01_2x2")
    own = tuple(e.name for e in item.studies)
    there = tuple(study for study in own if exists(study, chosen.uri))
    if not there and not every:
        run = item.studies[0].command()
        raise UserError(f"study: table {name} is of {', '.join(own)}; none has been run yet: {run}")
    if there and len(there) < len(own):
        left = [e.command() for e in item.studies if e.name not in there]
        print(f"table {name}: not run yet, left out: {'; '.join(left)}")
    return there or None


def _of_committees(chosen: Settings, studies: Sequence[str]) -> None:
    for study in studies:
        kind = kind_of(study, chosen.uri)
        if "paper_tables" not in kind.parts:
            raise UserError(
                f"table: the papers' tables are of committees, and {study!r} is a study of "
                f"{kind.plural}; leave table out"
            )


def _list() -> None:
    for table in CATALOGUE.values():
        item = papers.of_table(table.name)
        studies = ", ".join(e.name for e in item.studies) if item else ""
        print(f"{table.name:<12}{table.told:<54}{studies}".rstrip())
