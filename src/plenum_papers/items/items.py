"""The numbered results of the papers, with the studies and commands that produce each.

`reference/items.yaml` holds them as data.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from plenum.base.errors import UserError
from plenum.base.project import project_root

NEEDS = {
    "openai": "`OPENAI_API_KEY`", "anthropic": "`ANTHROPIC_API_KEY`", "gemini": "`GEMINI_API_KEY`",
    "xai": "`XAI_API_KEY`", "deepseek": "`DEEPSEEK_API_KEY`", "dashscope": "`DASHSCOPE_API_KEY`",
    "gpu": "a GPU", "qwen": "the weights of Qwen2.5-7B-Instruct",
}  # fmt: skip
"""Requirements of the papers' own models, in words."""

REDUCED = "rounds=8 replicates=6"
"""Overrides that make a study small, unless it has its own."""


@dataclass(frozen=True)
class Experiment:
    """An experiment that produces an item.

    Attributes
    ----------
    name
        Its name, which is also the study's and its option of `experiment` unless those are given.
    needs
        Keys of ``NEEDS``: requirements of the papers' own models. Without them the experiment runs
        with other models.
    real, reduced
        Overrides that select the papers' models, and that make the study small; the first is empty
        if no model is called.
    experiment, study
        Its option of `experiment`, and the study that it writes to.
    given
        Overrides that the experiment always needs.
    """

    name: str
    needs: tuple[str, ...]
    real: str = ""
    reduced: str = REDUCED
    experiment: str = ""
    study: str = ""
    given: str = ""

    @property
    def backend(self) -> str:
        """The backend, unless the papers' models are selected."""
        return "hosted" if "gpu" in self.needs else "simulated"

    def command(self, overrides: str = "") -> str:
        """Return the command that runs it."""
        return f"python run.py -m {' '.join(self.overrides(overrides))}"

    def overrides(self, more: str = "") -> list[str]:
        """Return the arguments of its run on the command line."""
        return [f"+experiment={self.experiment}", *self.given.split(), *more.split()]


@dataclass(frozen=True)
class PaperItem:
    """A figure, a panel of one, or a table of a paper.

    Attributes
    ----------
    id
        Unique: ``001/fig-1a``, ``001/table-s5``.
    title
        A description of its content.
    studies
        Studies that produce it, the main one first; empty if it needs no run.
    figure, table
        Names for `scripts/figures.py` and `scripts/tables.py`; empty if there is none.
    conditions
        Conditions that it shows: those that match any of these mappings from factors to allowed
        values.
    published
        Files of `reference/` with the paper's numbers.
    shown_with
        More overrides for the figure.
    script
        The script that makes it, if it needs no study.
    """

    id: str
    title: str
    studies: tuple[Experiment, ...] = ()
    figure: str = ""
    table: str = ""
    conditions: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    published: tuple[str, ...] = ()
    shown_with: str = ""
    script: str = ""

    @property
    def paper(self) -> str:
        """The paper's number: ``000``, ``001`` or ``002``."""
        return self.id.partition("/")[0]

    @property
    def kind(self) -> str:
        """The kind of item: ``fig`` or ``table``."""
        return self.id.partition("/")[2].partition("-")[0]

    @property
    def number(self) -> str:
        """The number, such as ``1A`` or ``S5``."""
        return self.id.partition("-")[2].upper()

    @property
    def label(self) -> str:
        """The label in the paper: ``Fig. 1A``, ``Table S5``."""
        return f"{'Fig.' if self.kind == 'fig' else 'Table'} {self.number}"

    def selects(self, factors: Mapping[str, object]) -> bool:
        """Return whether the item shows a condition with these factors."""
        return any(
            all(str(factors.get(name)) in values for name, values in condition.items())
            for condition in self.conditions
        )

    @property
    def made_by(self) -> str:
        """The command that makes only this item, from tracked runs."""
        return f"python scripts/papers.py item={self.id} draw=true"

    @property
    def study_names(self) -> tuple[str, ...]:
        """The tracked studies that produce it, without duplicates."""
        return tuple(dict.fromkeys(study.study for study in self.studies))

    @property
    def shown_by(self) -> tuple[str, ...]:
        """The commands that show it."""
        if self.script:
            return (f"python {self.script}",)
        study = self.study_names[0] if self.studies else ""
        name = "\"figure='null'\"" if self.figure == "null" else f"figure={self.figure}"
        figure = f"python scripts/figures.py study={study} {name} {self.shown_with}"
        several = len(self.study_names) > 1 and find_item(self.table) is not None
        only = "" if several or not study else f"study={study} "
        table = f"python scripts/tables.py {only}table={self.table}"
        return ((figure.rstrip(),) if self.figure else ()) + ((table,) if self.table else ())


def item(text: str) -> PaperItem:
    """Return the item that a text names: ``001/fig-1a``, ``Table S5``, ``001 Fig. S5``, ``S8``.

    Raises
    ------
    UserError
        It names no item, or several.
    """
    matches = [item for item in items() if item.id == text.strip().lower()] or _find_named(text)
    if len(matches) == 1:
        return matches[0]
    if matches:
        several = ", ".join(item.id for item in matches)
        raise UserError(f"item: {text} may be any of {several}; name one")
    raise UserError(f"item: {text}; one of {', '.join(item.id for item in items())}")


_SPELLING = re.compile(
    r"(?:(?P<paper>\d{3})[\s/,:]*)?"
    r"(?:(?P<kind>fig|tab)[a-z]*\.?[\s-]*)?(?P<number>s?\d+)(?P<panel>[a-z]?)"
)


def _find_named(text: str) -> list[PaperItem]:
    """Return the items that a spelling may mean; without a panel, all panels of a figure."""
    read = _SPELLING.fullmatch(text.strip().lower())
    if read is None:
        return []
    number = (read["number"] + read["panel"]).upper()
    return [
        item
        for item in items()
        if read["paper"] in (None, item.paper)
        and (read["kind"] or "") == item.kind[: len(read["kind"] or "")]
        and (item.number == number or (item.number[:-1] == number and item.number[-1].isalpha()))
    ]


def items() -> tuple[PaperItem, ...]:
    """Return every numbered result of the papers, in the order of the file."""
    return _load(project_root() / "reference" / "items.yaml")


def experiments() -> tuple[Experiment, ...]:
    """Return the studies that produce items, without duplicates."""
    return tuple(dict.fromkeys(study for item in items() for study in item.studies))


def find_item(name: str) -> PaperItem | None:
    """Return the item for one of our tables, if the papers have it."""
    return next((item for item in items() if item.kind == "table" and item.table == name), None)


@cache
def _load(path: Path) -> tuple[PaperItem, ...]:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    studies = {}
    for name, entry in data["studies"].items():
        own = {"study": name, "experiment": name, **entry, "needs": tuple(entry["needs"])}
        studies[name] = Experiment(name, **own)
    return tuple(
        _item(id_, data["items"][entry["same"]] if "same" in entry else entry, studies)
        for id_, entry in data["items"].items()
    )


def _item(id_: str, entry: Mapping[str, Any], studies: Mapping[str, Experiment]) -> PaperItem:
    own = {
        **entry,
        "studies": tuple(studies[name] for name in entry.get("studies", ())),
        "conditions": tuple(map(_condition, entry.get("conditions", ()))),
        "published": tuple(entry.get("published", ())),
    }
    return PaperItem(id_, **own)


def _condition(entry: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(v) if isinstance(v, list) else (v,) for name, v in entry.items()}
