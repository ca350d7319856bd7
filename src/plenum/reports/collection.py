"""The papers' results out of tracked studies: each under its number, and a page of all."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from plenum.base.errors import UserError
from plenum.reports import numbered, style
from plenum.reports.article import document as page
from plenum.reports.article.rendering import html, markdown
from plenum.reports.figures import CATALOGUE
from plenum.reports.figures.publish import pages
from plenum.reports.labels import provenance
from plenum.reports.numbered.source import Made, Source
from plenum.reports.papers import Item
from plenum.reports.publishing import Product
from plenum.reports.settings import Settings
from plenum.reports.study import Study, load
from plenum.tracking.study import exists, log_report


@dataclass
class Store:
    """The studies of a tracking store, each read and estimated once."""

    chosen: Settings
    _studies: dict[Settings, Study | None] = field(default_factory=dict)

    def study(self, name: str, baseline: str = "", reruns: str = "") -> Study | None:
        """A study; ``None`` where it hasn't been run."""
        chosen = replace(self.chosen, study=name, baseline=baseline, reruns=reruns)
        if chosen not in self._studies:
            self._studies[chosen] = load(chosen) if self.holds(name) else None
        return self._studies[chosen]

    def holds(self, name: str) -> bool:
        """Whether a study has been run."""
        return exists(name, self.chosen.uri)


@dataclass(frozen=True)
class Shown:
    """What was made of an item: the files and sheets, or why there are none."""

    item: Item
    pictures: tuple[Path, ...] = ()
    tables: tuple[Path, ...] = ()
    made: Made | None = None
    told: str = ""
    provenance: str = ""

    @property
    def files(self) -> tuple[Path, ...]:
        """Everything that was written for it."""
        return (*self.pictures, *self.tables)


def collect(wanted: Sequence[Item], chosen: Settings, say: Callable[[str], None]) -> list[Shown]:
    """Draw and write items of the papers from tracked runs, each under its number.

    Parameters
    ----------
    wanted
        The items.
    chosen
        The store, the folder and how estimates are made; its study doesn't matter.
    say
        Is told what was made of each item.

    Raises
    ------
    UserError
        None of their studies has been run.
    """
    store, found = Store(chosen), []
    studies = list(dict.fromkeys(study.name for one in wanted for study in one.studies))
    if studies and not any(map(store.holds, studies)):
        raise UserError(f"item: none of the studies has been run yet: {', '.join(studies)}")
    for item in wanted:
        shown = _shown(item, store)
        say(f"{item.id:<14} {', '.join(path.name for path in shown.files) or shown.told}")
        found.append(shown)
    return found


def write_index(found: Sequence[Shown], folder: Path, lead: str, notice: str) -> list[Path]:
    """Write a page of all results, as HTML that needs nothing but itself and as Markdown."""
    pictures, grids = iter(range(1, 1000)), iter(range(1, 1000))
    sections = tuple(
        page.Section(
            number,
            one.item.id.replace("/", "-"),
            f"{one.item.paper}, {one.item.label}: {one.item.title}",
            tuple(_blocks(one, pictures, grids)),
        )
        for number, one in enumerate(found, 1)
    )
    whole = page.Document("Figures and tables of the two papers", lead, notice, sections)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "index.html", folder / "index.md"]
    for file, text in zip(files, (html(whole), markdown(whole)), strict=True):
        file.write_text(text, encoding="utf-8")
    return files


def _shown(item: Item, store: Store) -> Shown:
    names = tuple(study.name for study in item.studies if store.holds(study.name))
    if item.studies and not names:
        return Shown(item, told=f"not run: {item.studies[0].command()}")
    pictures = tuple(_draw(item, store, names[0])) if item.figure and names else ()
    made = _made(item, store.chosen, names) if item.table else None
    folder, stem = store.chosen.out, item.id.replace("/", "_")
    tables: list[Path] = []
    if made is not None:
        tables = Product(stem, made.tables, {stem: made.frame}).write(folder)
    if names:
        log_report(names[0], store.chosen.uri, [*pictures, *tables])
    rows = [row for name in names if (study := store.study(name)) for row in study.rows]
    told = "" if pictures or made else "the runs have nothing to show in it"
    return Shown(item, pictures, tuple(tables), made, told, provenance(rows) if rows else "no run")


def _draw(item: Item, store: Store, name: str) -> Iterator[Path]:
    """The item's figure, of the conditions that it shows."""
    more = dict(word.split("=", 1) for word in item.shown_with.split())
    study = store.study(name, **{key: own for key, own in more.items() if store.holds(own)})
    if study is None:
        return
    own_part = study.restricted(item.selects)
    if not any(row.n for row in own_part.rows):
        return
    stem = item.id.replace("/", "_")
    for number, figure in enumerate(pages(CATALOGUE[item.figure], own_part), 1):
        own = stem if number == 1 else f"{stem}_{number}"
        yield from style.save(figure, store.chosen.out, own)
    plt.close("all")


def _made(item: Item, chosen: Settings, names: tuple[str, ...]) -> Made | None:
    first = replace(chosen, study=names[0] if names else "")
    keep = item.selects if item.conditions else None
    return numbered.CATALOGUE[item.table].make(Source(first, names, keep))


def _blocks(one: Shown, pictures: Iterator[int], grids: Iterator[int]) -> Iterator[Any]:
    commands = [*(study.command() for study in one.item.studies), one.item.made_by]
    yield page.Points(tuple(("", command) for command in commands))
    if one.told:
        yield page.Text(f"Nothing to show: {one.told}.")
    for file in one.pictures:
        if file.suffix == ".png":
            both = (file, file.with_suffix(".svg"))
            drawing = CATALOGUE[one.item.figure]
            caption = f"{drawing.told} ({one.provenance})"
            alt = f"{one.item.title}; {drawing.told}"
            yield page.Picture(next(pictures), drawing.name, both, one.item.title, caption, alt)
    for sheet in one.made.tables if one.made else ():
        yield page.Grid(next(grids), sheet)
