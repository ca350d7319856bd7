"""Worlds as a kind of study: what each station of the spine does with them."""

from __future__ import annotations  # of types that are slow to import

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plenum.design.factors import FACTORS
from plenum.design.kinds import Kind

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from numpy.random import Generator

    from plenum.calls.chat import Chat
    from plenum.calls.conversation import Ask
    from plenum.design.kinds import ReadTable
    from plenum.design.schema import Config
    from plenum.records.transcript import Transcript
    from plenum.reports.explorer.contents import Explorer
    from plenum.reports.settings import Settings
    from plenum.show.document import Document
    from plenum_worlds.condition import WorldCondition
    from plenum_worlds.episode import Episode

_FACTORS = (
    "task", "consensus", "diversity", "volatility", "policy", "agents", "turns", "runs", "view",
    "world",
)  # fmt: skip
"""The factors that only conditions in worlds have."""


class _World(Kind):
    def compose(self, config: Config) -> WorldCondition:
        from plenum_worlds.compose import compose_world

        return compose_world(config)

    def converse(self, condition: WorldCondition, replicate: int) -> Episode:
        from plenum_worlds.episode import Episode

        return Episode(condition, replicate)

    def find_longest_run(self, condition: WorldCondition) -> WorldCondition:
        from plenum_worlds.cost import longest_run

        return longest_run(condition)

    def find_longest_answer(self, condition: WorldCondition, ask: Ask) -> tuple[str, float]:
        from plenum_worlds.cost import longest_answer

        return longest_answer(condition, ask)

    def answer(self, chat: Chat, coupling: float, slips: float, rng: Generator) -> str | None:
        from plenum_worlds.simulated_agents import answer

        return answer(chat, coupling, slips, rng)

    def estimate(self, ended: Sequence[Transcript]) -> dict[str, Any]:
        from plenum_worlds.estimates import estimate_episodes

        return estimate_episodes(ended)

    def tabulate(self, transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
        from plenum_worlds.tracking import tabulate_episodes

        return tabulate_episodes(transcripts)

    def read_fields(self, table: ReadTable, params: Mapping[str, str]) -> dict[str, Any]:
        from plenum_worlds.tracking import read_fields

        return read_fields(table, params)

    def measure_rounds(self, transcript: Transcript) -> Mapping[str, Sequence[float]]:
        from plenum_worlds.tracking import measure_rounds

        return measure_rounds(transcript)

    def publish_tables(self, chosen: Settings) -> list[str]:
        from plenum_worlds.reports.findings import list_findings
        from plenum_worlds.reports.publish import publish_world_tables

        return list_findings(publish_world_tables(chosen), noticed=True)

    def make_frames(self, chosen: Settings) -> dict[str, pd.DataFrame]:
        from plenum_worlds.reports.publish import make_world_frames

        return make_world_frames(chosen)

    def publish_figures(self, chosen: Settings, names: Collection[str] | None) -> None:
        from plenum_worlds.reports.figures import publish_world_figures

        publish_world_figures(chosen, names)

    def compose_report(self, chosen: Settings, folder: Path) -> Document:
        from plenum_worlds.reports.page import compose_world_page

        return compose_world_page(chosen, folder)

    def explore(self) -> Explorer:
        from plenum_worlds.reports.explorer import EXPLORER

        return EXPLORER

    def list_tasks(self) -> Sequence[str]:
        from plenum_worlds.registry import WORLDS

        return tuple(WORLDS)


KIND = _World(
    name="world", plural="worlds", tasks=(), factors=(*FACTORS, *_FACTORS),
    repeated=("scenario", "roles", "protocol", "memory"), tables=("ensemble", "replicates"),
    assumed_answers="answers as long as sampling.max_tokens allows",
    more="more worlds: docs/worlds.md", named_by=("task", "model"),
    settings={
        "task": "plenum_worlds.settings:WorldTaskConfig",
        "consensus": "plenum_worlds.settings:ConsensusConfig",
        "diversity": "plenum_worlds.settings:DiversityConfig",
        "volatility": "plenum_worlds.settings:VolatilityConfig",
    },
)  # fmt: skip
