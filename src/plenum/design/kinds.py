"""The kinds of study: what is studied, and which code each station of the spine uses for it.

A kind is a value. Its parts are named by dotted paths and loaded on first use, so that nothing here
imports what stands above it. A package adds a kind by an entry point of the group ``plenum.kinds``;
a test calls :func:`register`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pkgutil import resolve_name
from typing import Any

from plenum.base.errors import UserError
from plenum.base.extensions import Registry, blame_part
from plenum.design.factors import FACTORS

_WORDS = {"report_frames": "tables as data", "plan": "a plan of replicates"}
"""The names of stations in the message that a kind has no part for them."""


@dataclass(frozen=True)
class Kind:
    """A kind of study, and the part that each station uses for it.

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
        Names of the tables, among those that the part ``tables`` makes, by which a run is
        recognised as whole, and of which manifests give digests.
    parts
        ``module:attribute`` by station:

        - ``compose``: from a typed config to the condition;
        - ``conversation``: from a condition and a replicate's number to its conversation;
        - ``longest_run``: from a condition to the one that takes as much as it can take;
        - ``longest_answer``: from a condition and a call to its longest answer, and its tokens;
        - ``require_context``: from a condition and a backend that counts tokens to a refusal, where
          a prompt doesn't fit a model's context; a kind may have none;
        - ``estimates``: from the transcripts of replicates with an outcome to metrics, divergence
          by round, interval, status, warnings and a line;
        - ``tables``: from transcripts to the tables that a condition's run keeps, by name;
        - ``tracked``: from a reader of these tables and the params of the condition's run to fields
          of a :class:`plenum.tracking.conditions.TrackedCondition`, by name;
        - ``by_round``: from a transcript to what its run has by round: values by metric;
        - ``simulated_agent``: answers the kind's prompts on the simulated backend
          (:class:`plenum.calls.simulated.backend.Agent`); a kind may have none;
        - ``report_tables``: prints, writes and logs the tables of a study; what it returns is what
          ``findings`` makes sentences of;
        - ``split``: from conditions, and a part of who answered, to conditions that are told apart
          by it; a kind may have none;
        - ``report_frames``: from the settings of a report to the tables as data, by name;
        - ``report_figures``: draws, writes and logs the figures of a study;
        - ``report``: from the settings of a report and a folder for its figures to its document;
        - ``explorer``: how its studies are explored
          (:class:`plenum.reports.explorer.contents.Explorer`); a kind may have none;
        - ``staged``: from a journal's head and rounds to what the explorer draws of a run; a
          kind may have none;
        - ``plan``: the replicates that are needed; a kind may have none.
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
    """

    name: str
    plural: str
    tasks: tuple[str, ...]
    assumed_answers: str
    factors: tuple[str, ...]
    repeated: tuple[str, ...]
    tables: tuple[str, ...]
    parts: Mapping[str, str]
    more: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    named_by: tuple[str, ...] = ("model",)
    outcomes: tuple[str, ...] = ("completed",)
    scripts: Mapping[str, str] = field(default_factory=dict)

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

    def has(self, station: str) -> bool:
        """Return whether this kind has a part for a station."""
        return station in self.parts

    def part(self, station: str) -> Any:
        """Return the part that a station uses for this kind.

        Raises
        ------
        UserError
            The kind doesn't have this part.
        """
        if not self.has(station):
            *others, last = [k.plural for k in KINDS.values() if k.has(station)] or ["none"]
            these = f"{', '.join(others)} and {last}" if others else last
            what = _WORDS.get(station, station.removeprefix("report_").replace("_", " "))
            more = f"; {self.more}" if self.more else ""
            raise UserError(f"study: it holds {self.plural}; {what}: only for {these}{more}")
        return _resolve(self.parts[station])


@cache
def _resolve(path: str) -> Any:
    with blame_part(f"kind of study: {path}"):
        return resolve_name(path)


KINDS: Registry[Kind] = Registry("plenum.kinds", "kind of study", Kind)
"""The kinds of study that are installed, by name."""


def register(kind: Kind) -> None:
    """Add a kind, or replace the one of its name."""
    KINDS.add(kind.name, kind)


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


register(
    Kind(
        name="committee",
        plural="committees",
        tasks=("none",),
        assumed_answers="arguments of argument_words each",
        factors=FACTORS,
        repeated=(),
        tables=("ensemble", "replicates"),
        parts={
            "compose": "plenum.committee.compose:compose_condition",
            "conversation": "plenum.committee.deliberation:Deliberation",
            "longest_run": "plenum.committee.cost:longest_run",
            "longest_answer": "plenum.committee.cost:longest_answer",
            "require_context": "plenum.committee.context:require_context",
            "estimates": "plenum.execution.summarise_committee:estimate_committee",
            "tables": "plenum.tracking.committees:tabulate_deliberations",
            "tracked": "plenum.tracking.committees:read_fields",
            "by_round": "plenum.tracking.committees:measure_rounds",
            "report_tables": "plenum.reports.tables.publish:publish_committees",
            "split": "plenum.reports.answerers:split_conditions",
            "report_frames": "plenum.reports.tables.publish:make_frames",
            "report_figures": "plenum.reports.figures.publish:publish_committees",
            "report": "plenum.reports.page.study:compose_committees",
            "findings": "plenum.reports.findings.sentences:write_findings",
            "explorer": "plenum.reports.explorer.gather:COMMITTEE_EXPLORER",
            "plan": "plenum.reports.plans:tabulate_plan",
        },
        more="a case of your own: docs/scenarios.md",
        named_by=("scenario", "roles", "model"),
    )
)
