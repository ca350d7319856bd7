"""Evaluation: greedy deliberations by the model alone, and how many answers need no repair."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from transformers import DynamicCache, Qwen2ForCausalLM, Qwen2Tokenizer

from plenum.committee import Deliberation
from plenum.conditions import Condition, Protocol
from plenum.models import Reply
from tiny_model import corpus, teacher, tokenizer
from tiny_model.tokenizer import end_of, ids_of, split

LIMIT = 96
"""Tokens of an answer, as conf/model/tiny.yaml has it."""

Kept = tuple[int, list[tuple[torch.Tensor, torch.Tensor]]]


class Speaker:
    """Answers many prompts at once, greedily; keeps what it computed for their static parts."""

    def __init__(self, model: Qwen2ForCausalLM, tokenizer: Qwen2Tokenizer) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._end = end_of(tokenizer)
        self._kept: dict[str, Kept] = {}

    def forget(self) -> None:
        """Drop what was kept of static parts."""
        self._kept.clear()

    @torch.inference_mode()
    def answers(self, prompts: Sequence[tuple[str, str]], limit: int = LIMIT) -> list[str]:
        """The answers to prompts, each cut in two as :func:`tiny_model.tokenizer.split` does."""
        kept = [self._prefix(prefix) for prefix, _ in prompts]
        rests = [self._ids(rest) for _, rest in prompts]
        ahead, width = max(n for n, _ in kept), max(map(len, rests))
        starts = torch.tensor([n for n, _ in kept])
        lengths = torch.tensor([len(rest) for rest in rests])
        mask = torch.zeros(len(prompts), ahead + width, dtype=torch.long)
        for row, (length, rest) in enumerate(zip(starts, rests, strict=True)):
            mask[row, :length] = 1
            mask[row, ahead : ahead + len(rest)] = 1
        cache = self._joined(kept, ahead)
        ids = torch.tensor([rest + [0] * (width - len(rest)) for rest in rests])
        hidden = self._body(ids, starts[:, None] + torch.arange(width), mask, cache)
        chosen = self._next(hidden[torch.arange(len(rests)), lengths - 1])
        said = [chosen]
        going = chosen.ne(self._end)
        while going.any() and len(said) < limit:
            mask = torch.cat([mask, torch.ones(len(rests), 1, dtype=torch.long)], dim=1)
            places = (starts + lengths + len(said) - 1)[:, None]
            hidden = self._body(chosen[:, None], places, mask, cache)
            chosen = torch.where(going, self._next(hidden[:, 0]), self._end)
            said.append(chosen)
            going &= chosen.ne(self._end)
        return [self._text(row.tolist()) for row in torch.stack(said, dim=1)]

    def _prefix(self, text: str) -> Kept:
        if text not in self._kept:
            cache = DynamicCache(config=self._model.config)
            ids = self._ids(text)
            if ids:
                self._body(torch.tensor([ids]), torch.arange(len(ids))[None], None, cache)
            layers: list[Any] = list(cache.layers) if ids else []
            self._kept[text] = len(ids), [(layer.keys, layer.values) for layer in layers]
        return self._kept[text]

    def _joined(self, kept: list[Kept], ahead: int) -> DynamicCache:
        cache, config = DynamicCache(config=self._model.config), self._model.config
        d = config.hidden_size // config.num_attention_heads
        for layer in range(config.num_hidden_layers if ahead else 0):
            keys, values = torch.zeros(2, len(kept), config.num_key_value_heads or 1, ahead, d)
            for row, (length, pairs) in enumerate(kept):
                if length:
                    keys[row, :, :length], values[row, :, :length] = (p[0] for p in pairs[layer])
            cache.update(keys, values, layer)
        return cache

    def _body(
        self,
        ids: torch.Tensor,
        places: torch.Tensor,
        mask: torch.Tensor | None,
        cache: DynamicCache,
    ) -> torch.Tensor:
        out = self._model.model(
            input_ids=ids,
            position_ids=places,
            attention_mask=mask,
            past_key_values=cache,
            use_cache=True,
        )
        hidden: torch.Tensor = out.last_hidden_state
        return hidden

    def _next(self, hidden: torch.Tensor) -> torch.Tensor:
        chosen: torch.Tensor = self._model.lm_head(hidden).argmax(dim=-1)
        return chosen

    def _ids(self, text: str) -> list[int]:
        return ids_of(self._tokenizer, text)

    def _text(self, ids: list[int]) -> str:
        until = ids.index(self._end) if self._end in ids else len(ids)
        return str(self._tokenizer.decode(ids[:until]))


@dataclass
class Tally:
    """What came of the calls of some deliberations, by kind.

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


@dataclass(frozen=True)
class Played:
    """A deliberation that the model held: its tally, its journal entries, and how it ended."""

    condition: Condition
    tally: Tally
    entries: list[dict[str, Any]]
    run: Deliberation

    @property
    def decision(self) -> str:
        """The decision, or that it failed."""
        end = self.run.end or {}
        return str(end.get("decision", end.get("status")))


def play(speaker: Speaker, conditions: Sequence[Condition], rows: int = 48) -> list[Played]:
    """Hold one deliberation of each condition, many in step."""
    runs = [Deliberation(condition, 0) for condition in conditions]
    played = [Played(c, Tally(), [], run) for c, run in zip(conditions, runs, strict=True)]
    while going := [n for n, run in enumerate(runs) if run.ask is not None]:
        for first in range(0, len(going), rows):
            part = going[first : first + rows]
            asked = [runs[n].ask for n in part]
            texts = speaker.answers([split(ask.chat.messages) for ask in asked if ask])
            for n, ask, text in zip(part, asked, texts, strict=True):
                assert ask is not None
                entry = runs[n].answer(Reply(text, 0, 0))
                played[n].entries.append(entry)
                tally = played[n].tally
                tally.calls[ask.kind] += 1
                if "problem" in entry:
                    tally.problems[f"{ask.kind}: {entry['problem']}"] += 1
                else:
                    tally.parsed[ask.kind] += 1
                    tally.right[ask.kind] += teacher.would(ask.kind, ask.chat.messages, text)
    return played


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
    torch.set_num_threads(threads)
    speaker = Speaker(
        Qwen2ForCausalLM.from_pretrained(folder, local_files_only=True), tokenizer.load(folder)
    )
    console, total = Console(), Tally()
    table = Table("scenario", "turns", "parsed", "consistent", "decisions", title=str(folder))
    for scenario_id in track(corpus.ids(), console=Console(stderr=True)):
        played = play(speaker, benchmark(scenario_id, rounds, wordings))
        speaker.forget()
        tally = Tally()
        for one in played:
            tally.add(one.tally)
        total.add(tally)
        decisions = Counter(str(one.decision) for one in played)
        table.add_row(
            scenario_id,
            str(tally.calls["turn"]),
            f"{tally.rate(['turn']):.2%}",
            f"{tally.right['turn'] / max(1, tally.parsed['turn']):.1%}",
            ", ".join(f"{n} {what}" for what, n in decisions.most_common()),
        )
    console.print(table)
    for kind in sorted(total.calls):
        console.print(
            f"{kind}: {total.parsed[kind]} of {total.calls[kind]} parsed "
            f"({total.rate([kind]):.2%}), {total.right[kind]} as the teacher would"
        )
    for problem, number in total.problems.most_common(12):
        console.print(f"  {number} x {problem}")
    first = ("turn", "ballot", "clerk")
    console.print(f"first answers that need no repair: {total.rate(first):.2%}")
    return total.rate(first)


def benchmark(scenario_id: str, rounds: int, wordings: int) -> list[Condition]:
    """Conditions of a scenario: wordings spread over its variants, roles on and off, windows."""
    known = corpus.variants20(scenario_id)
    chosen = [known[n * len(known) // wordings] for n in range(wordings)]
    return [
        dataclasses.replace(
            corpus.reworded(corpus.condition(("on", "off")[n % 2]), scenario_id, variant),
            protocol=Protocol((15, 5)[n // 2 % 2], corpus.WORDS),
            rounds=rounds,
        )
        for n, variant in enumerate(chosen)
    ]
