"""The kinds of study: what is studied, and what each station of the spine does with it.

A kind is a value whose stations are methods. These import inside, so that nothing here imports
what stands above it, and a command loads no more than it uses. A package adds a kind by an entry
point of the group ``plenum.kinds``, as ``plenum.kind`` adds committees.
"""

from __future__ import annotations  # the types below stand above this module

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NoReturn

from plenum.base.errors import UserError
from plenum.base.extensions import Registry, blame_part
from plenum.design.parts_of_kinds import adopt_parts

if TYPE_CHECKING:  # for editors and type checkers, which run nothing
    from pathlib import Path

    import pandas as pd
    from numpy.random import Generator

    from plenum.calls.chat import Chat
    from plenum.calls.conversation import Ask, Conversation
    from plenum.calls.pace import TokenCounting
    from plenum.calls.raw_requests import ToolCall
    from plenum.design.condition import Condition
    from plenum.design.schema import Config
    from plenum.records.transcript import Transcript
    from plenum.reports.explorer.contents import Explorer
    from plenum.reports.settings import PlanSettings, Settings
    from plenum.show.document import Document
    from plenum.show.table import Table
    from plenum.tracking.conditions import TrackedCondition

    Answer = str | tuple[ToolCall, ...]
    ReadTable = Callable[[str], pd.DataFrame]


@dataclass(frozen=True)
class Kind:
    """A kind of study: a subclass for each, which has the stations that it can do.

    A station without a method of the kind's own refuses in one line, unless it says otherwise. A
    sweep wants ``compose``, ``converse``, ``estimate`` and ``tabulate``, and its tables
    ``publish_tables`` and ``read_fields``. A condition is one of the kind's own.

    Attributes
    ----------
    name
        The name that conditions and tracked studies have.
    plural
        What messages call several of them.
    tasks
        Values of ``task.name`` that choose this kind; the kind with none takes all others.
    assumed_answers
        What an estimate of costs takes answers to be.
    factors
        Names of the factors of its conditions, in the order in which tables show them.
    repeated
        Those of them that say what another one says.
    tables
        Names of the tables, among those that :meth:`tabulate` makes, by which a run is recognised
        as whole, and of which manifests give digests.
    parts
        What :func:`plenum.design.parts_of_kinds.adopt_parts` takes; only packages of version 0.2.
    more
        Where a reader of its tables finds how to study more of it.
    settings
        ``module:class`` of its own settings, by their keys in the config. Those of ``task`` replace
        :class:`plenum.design.schema.TaskConfig`. The others are config groups, with a ``name``,
        that mean nothing to committees, which refuse any but their usual options. All have
        defaults, and are loaded with every config: a module of their own keeps that quick.
    named_by
        Factors that tables show, and first, even where all conditions share their values.
    outcomes
        Statuses of the replicates that are estimated: a failure may be an outcome, too.
    scripts
        ``module:attribute`` of the settings of its package's scripts
        (:class:`plenum.design.scripts.Script`), by the names of their primary configs.
    splits
        True if its tables can tell conditions apart by who answered (``split``).
    """

    name: str
    plural: str
    tasks: tuple[str, ...]
    assumed_answers: str
    factors: tuple[str, ...]
    repeated: tuple[str, ...]
    tables: tuple[str, ...]
    parts: InitVar[Mapping[str, str] | None] = None
    more: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    named_by: tuple[str, ...] = ("model",)
    outcomes: tuple[str, ...] = ("completed",)
    scripts: Mapping[str, str] = field(default_factory=dict)
    splits: bool = False

    def __post_init__(self, parts: Mapping[str, str] | None) -> None:
        if parts:
            adopt_parts(self, self.name, parts)

    def compose(self, config: Config) -> Condition:
        """Compose the condition of a typed config."""
        self._refuse(Kind.compose, "compose")

    def converse(self, condition: Any, replicate: int) -> Conversation[Any]:
        """Begin the conversation of a replicate, by its number."""
        self._refuse(Kind.converse, "conversation")

    def find_longest_run(self, condition: Any) -> Condition:
        """Find the condition that takes as much as this one can: itself, if none ends early."""
        longest: Condition = condition
        return longest

    def find_longest_answer(self, condition: Any, ask: Ask) -> tuple[str, float]:
        """Find the longest answer to a call, and its tokens."""
        self._refuse(Kind.find_longest_answer, "longest answer")

    def require_context(self, condition: Any, model: TokenCounting) -> None:
        """Refuse a condition with prompts that don't fit a model's context, where that is known."""

    def answer(self, chat: Chat, coupling: float, slips: float, rng: Generator) -> Answer | None:
        """Answer as a simulated agent, or call tools; ``None`` for a chat that isn't of its own.

        Parameters
        ----------
        coupling
            Scales how much other agents count.
        slips
            Probability of a slip.
        """
        return None

    def estimate(self, ended: Sequence[Transcript]) -> dict[str, Any]:
        """Estimate a condition from its replicates with an outcome.

        Returns
        -------
        dict
            ``metrics``, ``divergence`` by round, ``interval``, ``status``, ``warnings``, and a
            ``line`` for people.
        """
        self._refuse(Kind.estimate, "estimates")

    def tabulate(self, transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
        """Make the tables that a condition's run keeps, by name."""
        self._refuse(Kind.tabulate, "tables")

    def read_fields(self, table: ReadTable, params: Mapping[str, str]) -> dict[str, Any]:
        """Read fields of a :class:`plenum.tracking.conditions.TrackedCondition`, by name.

        Parameters
        ----------
        table
            Reads a table of the condition's run by its name.
        params
            Of that run.
        """
        self._refuse(Kind.read_fields, "tracked")

    def measure_rounds(self, transcript: Transcript) -> Mapping[str, Sequence[float]]:
        """Measure what a replicate's run has by round: values by metric; none, unless it has."""
        return {}

    def publish_tables(self, chosen: Settings) -> list[str]:
        """Print, write and log the tables of a study; return what happened, in sentences."""
        self._refuse(Kind.publish_tables, "tables")

    def make_frames(self, chosen: Settings) -> dict[str, pd.DataFrame]:
        """Make the tables of a study as data, by name."""
        self._refuse(Kind.make_frames, "tables as data")

    def publish_figures(self, chosen: Settings, names: Collection[str] | None) -> None:
        """Draw, write and log the figures of a study: those of these names, or all."""
        self._refuse(Kind.publish_figures, "figures")

    def compose_report(self, chosen: Settings, folder: Path) -> Document:
        """Compose the report of a study; its figures are drawn into a folder."""
        self._refuse(Kind.compose_report, "report")

    def explore(self) -> Explorer:
        """Say how its studies are explored."""
        self._refuse(Kind.explore, "explorer")

    def plan(self, tracked: Sequence[TrackedCondition], asked: PlanSettings) -> Table:
        """Tabulate the replicates that conditions need."""
        self._refuse(Kind.plan, "a plan of replicates")

    def list_tasks(self) -> Sequence[str]:
        """List the values of ``task.name`` that a message may name."""
        return self.tasks

    def has(self, station: Callable[..., Any]) -> bool:
        """Return whether a station is a method of this kind's own, as ``has(Kind.plan)``."""
        return getattr(getattr(self, station.__name__), "__func__", None) is not station

    def _refuse(self, station: Callable[..., Any], what: str) -> NoReturn:
        *others, last = [k.plural for k in KINDS.values() if k.has(station)] or ["none"]
        these = f"{', '.join(others)} and {last}" if others else last
        more = f"; {self.more}" if self.more else ""
        raise UserError(f"study: it holds {self.plural}; {what}: only for {these}{more}")

    @property
    def distinct_factors(self) -> tuple[str, ...]:
        """The factors without those that repeat another one."""
        return tuple(name for name in self.factors if name not in self.repeated)

    @property
    def groups(self) -> tuple[str, ...]:
        """The config groups that only this kind uses."""
        return tuple(key for key in self.settings if key != "task")

    def load_settings_types(self) -> dict[str, type[Any]]:
        """Load the types of its settings by key (``UserError`` where one can't be loaded)."""
        with blame_part(f"kind of study {self.name}"):
            return {key: resolve_name(path) for key, path in self.settings.items()}


KINDS: Registry[Kind] = Registry("plenum.kinds", "kind of study", Kind)
"""The kinds of study that are installed, by name."""


def of_task(name: str) -> Kind:
    """Return the kind that a config's ``task.name`` chooses."""
    named = (kind for kind in KINDS.values() if name in kind.tasks)
    others = (kind for kind in KINDS.values() if not kind.tasks)
    if kind := next(named, None) or next(others, None):
        return kind
    known = ", ".join(KINDS)
    raise UserError(f"task.name: {name!r} belongs to no kind of study that is installed: {known}")


def find_kind(named: Mapping[str, Any]) -> Kind:
    """Return a condition's kind by its factors, its run's params, or the head of a journal."""
    return of_task(str(named.get("task", "none")))
