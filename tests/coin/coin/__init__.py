"""A toy kind of study: a model flips a coin ``rounds`` times, and the share of heads is estimated.

It is a package of its own, as an outside one is: ``pyproject.toml`` names the kind and the folder
of its configs as entry points, and the code imports plenum by its modules. Each method imports
what it needs, so that a command that is about no coin loads this file alone.
"""

from __future__ import annotations  # of types that are slow to import

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plenum.design.kinds import Kind

if TYPE_CHECKING:
    import pandas as pd
    from numpy.random import Generator

    from coin.flips import CoinCondition, Flips
    from plenum.calls.chat import Chat
    from plenum.calls.conversation import Ask
    from plenum.design.kinds import ReadTable
    from plenum.design.schema import Config
    from plenum.records.transcript import Transcript
    from plenum.reports.settings import Settings


class CoinKind(Kind):
    """What can be done with coins; they have no figures, no report and no explorer."""

    def compose(self, config: Config) -> CoinCondition:
        from coin.flips import compose

        return compose(config)

    def converse(self, condition: CoinCondition, replicate: int) -> Flips:
        from coin.flips import Flips

        return Flips(condition, replicate)

    def find_longest_answer(self, condition: CoinCondition, ask: Ask) -> tuple[str, float]:
        return "heads", 2.0

    def answer(self, chat: Chat, coupling: float, slips: float, rng: Generator) -> str | None:
        from coin.flips import answer

        return answer(chat, coupling, slips, rng)

    def estimate(self, ended: Sequence[Transcript]) -> dict[str, Any]:
        from coin.flips import estimates

        return estimates(ended)

    def tabulate(self, transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
        from coin.flips import tables

        return tables(transcripts)

    def read_fields(self, table: ReadTable, params: Mapping[str, str]) -> dict[str, Any]:
        return {"data": {"flips": table("flips")}}

    def measure_rounds(self, transcript: Transcript) -> Mapping[str, Sequence[float]]:
        return {"heads": [float(entry["side"] == "heads") for entry in transcript.calls]}

    def publish_tables(self, chosen: Settings) -> list[str]:
        from coin.flips import report_tables

        return [f"Conditions of the coin that were run: {len(report_tables(chosen))}."]

    def make_frames(self, chosen: Settings) -> dict[str, pd.DataFrame]:
        from coin.flips import report_frames

        return report_frames(chosen)


KIND = CoinKind(
    name="coin",
    plural="coins",
    tasks=("coin",),
    assumed_answers="one word",
    factors=("task", "heads", "model", "backend", "settings", "rounds", "seed"),
    repeated=(),
    tables=("replicates",),
    settings={"task": "coin.settings:CoinTaskConfig"},
)
