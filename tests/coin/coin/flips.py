"""What the kind does: a condition, a conversation, what is kept, an estimate and a table."""

import dataclasses
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from coin.settings import CoinTaskConfig
from plenum.calls.chat import Chat, Message, Reply
from plenum.calls.conversation import Ask, Conversation, ConversationFailed, Entry
from plenum.design.compose import complete_backend
from plenum.design.condition import Condition, list_changed_settings
from plenum.design.schema import Config
from plenum.records.failures import Failure
from plenum.records.transcript import Transcript
from plenum.reports.publication import Product, publish_product
from plenum.reports.settings import Settings
from plenum.show.formats import format_decimals
from plenum.show.table import Column, Table, make_keys
from plenum.tracking.conditions import tabulate_replicates
from plenum.tracking.study import Study

SIDES = ("heads", "tails")


@dataclass(frozen=True, kw_only=True)
class CoinCondition(Condition):
    """A coin that shows heads with probability ``heads``."""

    kind: ClassVar[str] = "coin"

    heads: float

    def collect_identity(self) -> dict[str, Any]:
        return {
            "coin": self.heads,
            "model": self.model,
            "sampling": dataclasses.asdict(self.sampling),
            "backend": self.backend.collect_identity(),
            "rounds": self.rounds,
            "seed": self.seed,
        }

    @property
    def labels(self) -> tuple[str, ...]:
        return ()

    @property
    def calls(self) -> int:
        return self.rounds

    @property
    def models(self) -> tuple[str, ...]:
        return (self.model,)

    @property
    def factors(self) -> dict[str, str | int]:
        return {
            "task": "coin",
            "heads": f"{self.heads:g}",
            "model": self.model,
            "backend": self.backend.name,
            "settings": self.settings,
            "rounds": self.rounds,
            "seed": self.seed,
        }

    @property
    def settings(self) -> str:
        return " ".join(list_changed_settings((self.backend, self.sampling))) or "default"

    def as_mapping(self) -> dict[str, Any]:
        return {
            "condition": self.identity,
            **self.factors,
            "options": dict(zip(SIDES, SIDES, strict=True)),
            "seats": [{"seat": "coin", "label": "coin", "mandate": False, "model": self.model}],
            "clerk": "",
        }

    def __str__(self) -> str:
        return self._describe(["task", "heads", "model"])


def compose(typed: Config) -> CoinCondition:
    model = str(typed.model.default)
    backend, weights = complete_backend(typed.backend, [model], typed.model)
    return CoinCondition(
        heads=typed.find(CoinTaskConfig).heads,
        model=model,
        sampling=typed.sampling,
        backend=backend,
        weights=weights,
        rounds=typed.rounds,
        seed=typed.seed,
    )


class Flips(Conversation[CoinCondition]):
    """One replicate: ``rounds`` calls, each answered by a side."""

    def _play(self) -> Generator[Ask, Reply, Entry]:
        condition, heads = self._condition, 0
        for flip in range(1, condition.rounds + 1):
            words = f"Flip a coin that shows heads with probability {condition.heads:g}."
            messages = Message("system", "Answer heads or tails."), Message("user", words)
            ask = self._call("flip", flip, "coin", condition.model, messages)
            reply = yield ask
            if reply.text not in SIDES:
                self._unread(ask, reply, "neither heads nor tails")
            self._note(ask, reply, side=reply.text)
            heads += reply.text == "heads"
        decision = SIDES[2 * heads < condition.rounds]
        return {"kind": "end", "status": "completed", "decision": decision, "heads": heads}

    def _unread(self, ask: Ask, reply: Reply, problem: str) -> None:
        self._note(ask, reply, problem=problem)
        raise ConversationFailed(ask, Failure.PARSE, problem)


def answer(chat: Chat, coupling: float, slips: float, rng: np.random.Generator) -> str | None:
    wanted = re.fullmatch(r"Flip a coin .* probability (.*)\.", chat.messages[1].content)
    return SIDES[int(rng.random() >= float(wanted[1]))] if wanted else None


def estimates(completed: Sequence[Transcript]) -> dict[str, Any]:
    heads = sum(t.end["heads"] for t in completed if t.end)
    flips = sum(len(t.calls) for t in completed)
    low, high = proportion_confint(heads, flips, method="beta")
    return {
        "metrics": {"share": heads / flips, "share_ci_low": low, "share_ci_high": high},
        "divergence": [],
        "interval": "Clopper-Pearson",
        "status": "ok",
        "warnings": [],
        "line": f"share of heads = {heads / flips:.3f} [{low:.3f}, {high:.3f}]",
    }


def tables(transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
    rows = [
        {"replicate": t.head["replicate"], "heads": t.end["heads"], "flips": len(t.calls)}
        for t in transcripts
        if t.end and t.status == "completed"
    ]
    return {
        "replicates": tabulate_replicates(transcripts),
        "flips": pd.DataFrame(rows),
    }


def report_frames(chosen: Settings) -> dict[str, pd.DataFrame]:
    """Return the data of the table: ``plenum.study("coin").frame()`` shows it."""
    rows = []
    for condition in Study(chosen.study, chosen.uri).conditions:
        # a condition without a completed replicate has no table
        flipped = condition.data.get("flips", pd.DataFrame(columns=["heads", "flips"]))
        heads, flips = flipped[["heads", "flips"]].sum()
        low, high = proportion_confint(heads, flips, method="beta") if flips else (None, None)
        rows.append(
            {
                **{name: condition.factors[name] for name in ("heads", "model", "backend")},
                "target": condition.target,
                "completed": condition.completed,
                "share": heads / flips if flips else None,
                "ci_low": low,
                "ci_high": high,
            }
        )
    return {"conditions": pd.DataFrame(rows)}


def report_tables(chosen: Settings) -> Table:
    """Print, write and log one table: a line a condition."""
    frame = report_frames(chosen)["conditions"]
    shown = tuple(
        Column(name, format=format_decimals(3)) for name in ("share", "ci_low", "ci_high")
    )
    counts = (Column("target"), Column("completed"))
    columns = (*make_keys(["heads", "model", "backend"]), *counts, *shown)
    table = Table("coin", "Share of heads", frame, columns)
    publish_product(Product("tables", [table], {"coin": table.frame}), chosen)
    return table
