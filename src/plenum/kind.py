"""Committees as a kind of study: what each station of the spine does with them."""

from __future__ import annotations  # of types that are slow to import

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plenum.design.factors import FACTORS
from plenum.design.kinds import Kind

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from plenum.calls.conversation import Ask
    from plenum.calls.pace import TokenCounting
    from plenum.committee.condition import CommitteeCondition
    from plenum.committee.deliberation import Deliberation
    from plenum.design.kinds import ReadTable
    from plenum.design.schema import Config
    from plenum.records.transcript import Transcript
    from plenum.reports.explorer.contents import Explorer
    from plenum.reports.settings import PlanSettings, Settings
    from plenum.show.document import Document
    from plenum.show.table import Table
    from plenum.tracking.conditions import TrackedCondition


class _Committee(Kind):
    def compose(self, config: Config) -> CommitteeCondition:
        from plenum.committee.compose import compose_condition

        return compose_condition(config)

    def converse(self, condition: CommitteeCondition, replicate: int) -> Deliberation:
        from plenum.committee.deliberation import Deliberation

        return Deliberation(condition, replicate)

    def find_longest_answer(self, condition: CommitteeCondition, ask: Ask) -> tuple[str, float]:
        from plenum.committee.cost import longest_answer

        return longest_answer(condition, ask)

    def require_context(self, condition: CommitteeCondition, model: TokenCounting) -> None:
        from plenum.committee.context import require_context

        require_context(condition, model)

    def estimate(self, ended: Sequence[Transcript]) -> dict[str, Any]:
        from plenum.execution.summarise_committee import estimate_committee

        return estimate_committee(ended)

    def tabulate(self, transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
        from plenum.tracking.committees import tabulate_deliberations

        return tabulate_deliberations(transcripts)

    def read_fields(self, table: ReadTable, params: Mapping[str, str]) -> dict[str, Any]:
        from plenum.tracking.committees import read_fields

        return read_fields(table, params)

    def measure_rounds(self, transcript: Transcript) -> Mapping[str, Sequence[float]]:
        from plenum.tracking.committees import measure_rounds

        return measure_rounds(transcript)

    def publish_tables(self, chosen: Settings) -> list[str]:
        from plenum.reports.findings.sentences import write_findings
        from plenum.reports.tables.publish import publish_committees

        return write_findings(publish_committees(chosen))

    def make_frames(self, chosen: Settings) -> dict[str, pd.DataFrame]:
        from plenum.reports.study import load_study
        from plenum.reports.tables.publish import frames

        return frames(load_study(chosen))

    def publish_figures(self, chosen: Settings, names: Collection[str] | None) -> None:
        from plenum.reports.figures.publish import publish_committees

        publish_committees(chosen, names)

    def compose_report(self, chosen: Settings, folder: Path) -> Document:
        from plenum.reports.page.study import compose_committees

        return compose_committees(chosen, folder)

    def explore(self) -> Explorer:
        from plenum.reports.explorer.gather import COMMITTEE_EXPLORER

        return COMMITTEE_EXPLORER

    def plan(self, tracked: Sequence[TrackedCondition], asked: PlanSettings) -> Table:
        from plenum.reports.plans import tabulate_plan

        return tabulate_plan(tracked, asked)


KIND = _Committee(
    name="committee", plural="committees", tasks=("none",), factors=FACTORS, repeated=(),
    tables=("ensemble", "replicates"), named_by=("scenario", "roles", "model"), splits=True,
    assumed_answers="arguments of argument_words each",
    more="a case of your own: docs/scenarios.md",
)  # fmt: skip
