"""Audited programs as a kind of study: what each station of the spine does with them."""

from __future__ import annotations  # of types that are slow to import

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from plenum.base.errors import UserError
from plenum.design.kinds import Kind

if TYPE_CHECKING:
    import pandas as pd
    from numpy.random import Generator

    from plenum.calls.chat import Chat
    from plenum.design.kinds import Answer, ReadTable
    from plenum.design.schema import Config
    from plenum.records.transcript import Transcript
    from plenum.reports.settings import Settings


class _Program(Kind):
    def compose(self, config: Config) -> NoReturn:
        raise UserError(
            "task.name: program; it is audited by python scripts/audit.py committee=..."
        )

    def answer(self, chat: Chat, coupling: float, slips: float, rng: Generator) -> Answer | None:
        from plenum_audit.programs.simulated_agent import answer

        return answer(chat, coupling, slips, rng)

    def estimate(self, ended: Sequence[Transcript]) -> dict[str, Any]:
        from plenum_audit.execution.summarise_program import estimate_program

        return estimate_program(ended)

    def tabulate(self, transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
        from plenum_audit.tracking.programs import tabulate_programs

        return tabulate_programs(transcripts)

    def read_fields(self, table: ReadTable, params: Mapping[str, str]) -> dict[str, Any]:
        from plenum_audit.tracking.programs import read_fields

        return read_fields(table, params)

    def publish_tables(self, chosen: Settings) -> list[str]:
        from plenum_audit.reports.publish import report_tables
        from plenum_verdicts.reports.publish import findings

        return findings(report_tables(chosen))


KIND = _Program(
    name="program", plural="programs", tasks=("program",), repeated=(),
    tables=("replicates", "calls", "messages"), outcomes=("completed", "failed"),
    named_by=("committee", "case"), scripts={"audit": "plenum_audit.design:SCRIPT"},
    assumed_answers="answers as long as the program's requests allow",
    factors=("task", "committee", "case", "knobs", "model", "backend", "settings", "seed"),
    more="an audit's page: audit.html or suite.html, in its run in MLflow and where it was written",
)  # fmt: skip
