"""Evaluation: greedy deliberations on the hosted backend, and how many answers need no repair."""

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from plenum.base import percent
from plenum.committee import CommitteeCondition, Deliberation
from plenum.design import Protocol, Sampling
from plenum_hosted import Hosted, HostedBackend
from tiny_model import corpus, teacher

LIMIT = 96
"""Tokens of an answer, as the option model=tiny has it."""


@dataclass
class Tally:
    """Counts of the calls of some deliberations, by kind.

    ``right`` counts answers that are as they should be: a STATE line that follows from the
    argument, a vote for what the seat's row favours, the right count.
    """

    calls: Counter[str] = field(default_factory=Counter)
    parsed: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        """Count another's calls too."""
        for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True):
            mine.update(theirs)

    def rate(self, kinds: Iterable[str]) -> float:
        """The share of first answers of these kinds that parsed."""
        kinds = tuple(kinds)
        return sum(self.parsed[k] for k in kinds) / max(1, sum(self.calls[k] for k in kinds))


async def play(
    backend: HostedBackend, model: str, condition: CommitteeCondition
) -> tuple[Tally, str]:
    """Hold one deliberation; what came of its calls, and its decision, or that it failed."""
    run, tally = Deliberation(condition, 0), Tally()
    while (ask := run.ask) is not None:
        chat = dataclasses.replace(ask.chat, model=model)
        reply = (await backend.attempt(chat, 1)).reply
        entry = run.answer(reply)
        tally.calls[ask.kind] += 1
        if "problem" in entry:
            tally.problems[f"{ask.kind}: {entry['problem']}"] += 1
        else:
            tally.parsed[ask.kind] += 1
            tally.right[ask.kind] += teacher.would(ask.kind, chat.messages, reply.text)
    end = run.end or {}
    return tally, str(end.get("decision", end.get("status")))


def report(folder: Path, rounds: int, wordings: int, threads: int) -> float:
    """Hold deliberations over all scenarios, print what parsed, and return the share that did.

    Parameters
    ----------
    folder
        Of the model.
    rounds
        Of every deliberation.
    wordings
        How many of the ``variants20`` of every scenario are read.
    """
    model = str(folder.resolve())
    backend = HostedBackend(Hosted(device="cpu", threads=threads))
    backend.check((model,), Sampling(0.0, LIMIT))
    conditions = benchmark(rounds, wordings)
    played = asyncio.run(_together(backend, model, conditions))
    console, total = Console(), Tally()
    table = Table("scenario", "turns", "parsed", "consistent", "decisions", title=str(folder))
    for scenario_id in corpus.ids():
        results = [
            p for c, p in zip(conditions, played, strict=True) if c.scenario.id == scenario_id
        ]
        tally = Tally()
        for counts, _ in results:
            tally.add(counts)
        total.add(tally)
        decisions = Counter(decision for _, decision in results)
        table.add_row(
            scenario_id,
            str(tally.calls["turn"]),
            percent(tally.rate(["turn"]), 2),
            percent(tally.right["turn"] / max(1, tally.parsed["turn"]), 1),
            ", ".join(f"{n} {what}" for what, n in decisions.most_common()),
        )
    console.print(table)
    for kind in sorted(total.calls):
        console.print(
            f"{kind}: {total.parsed[kind]} of {total.calls[kind]} parsed "
            f"({percent(total.rate([kind]), 2)}), {total.right[kind]} as the teacher would"
        )
    for problem, number in total.problems.most_common(12):
        console.print(f"  {number} x {problem}")
    first = ("turn", "ballot", "clerk")
    console.print(f"first answers that need no repair: {percent(total.rate(first), 2)}")
    return total.rate(first)


async def _together(
    backend: HostedBackend, model: str, conditions: list[CommitteeCondition]
) -> list[tuple[Tally, str]]:
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("deliberations", total=len(conditions))

        async def play_one(condition: CommitteeCondition) -> tuple[Tally, str]:
            result = await play(backend, model, condition)
            bar.advance(task)
            return result

        try:
            return await asyncio.gather(*map(play_one, conditions))
        finally:
            await backend.close()


def benchmark(rounds: int, wordings: int) -> list[CommitteeCondition]:
    """Some wordings of every scenario; roles on and off with windows of 15 and 5 take turns."""
    conditions: list[CommitteeCondition] = []
    for scenario_id in corpus.ids():
        known = corpus.variants20(scenario_id)
        for variant in (known[n * len(known) // wordings] for n in range(wordings)):
            committee = corpus.condition(("on", "off")[len(conditions) % 2])
            conditions.append(
                dataclasses.replace(
                    corpus.reworded(committee, scenario_id, variant),
                    protocol=Protocol((15, 5)[len(conditions) // 2 % 2], corpus.WORDS),
                    sampling=Sampling(0.0, LIMIT),
                    rounds=rounds,
                )
            )
    return conditions
