"""Training: seeded, resumable, with the same weights however often it was interrupted."""

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import Qwen2ForCausalLM, Qwen2Tokenizer

from tiny_model import architecture, corpus
from tiny_model.corpus import Example
from tiny_model.forward import Batch, loss
from tiny_model.optimizer import Optimizer
from tiny_model.tokenizer import end_of, ids_of, load
from tiny_model.tokenizer import train as train_tokenizer

STAGES = ("answers", "talks", "few", "short", "full")


@dataclass(frozen=True)
class Plan:
    """What a training does: equal plans end with equal weights.

    Prompts grow: ``answers`` steps read answers without prompts, ``talks`` steps
    discussions alone, ``few`` steps short prompts of two or three seats, ``short`` steps short
    prompts of the whole committee, and ``full`` steps the real prompts. In ``few`` and ``short``
    the arguments and table rows of the prompt are learnt too, with the weight ``aside``.
    """

    answers: int = 75
    talks: int = 150
    few: int = 200
    short: int = 300
    full: int = 800
    groups: int = 2
    rows: int = 8
    clerks: int = 4
    aside: float = 0.5
    rate: float = 6e-3
    rate_of_others: float = 4e-3
    warmup: int = 20
    decay: float = 0.05
    seed: int = 0

    @property
    def steps(self) -> int:
        """All of them."""
        return sum(int(getattr(self, name)) for name in STAGES)

    def scaled(self, steps: int) -> "Plan":
        """A plan of so many steps, in the same proportions; the last part takes the remainder."""
        parts = {name: getattr(self, name) * steps // self.steps for name in STAGES[:-1]}
        parts[STAGES[-1]] = steps - sum(parts.values())
        return replace(self, **parts)

    def stage(self, step: int) -> str:
        """Which part a step belongs to."""
        for name in STAGES:
            step -= int(getattr(self, name))
            if step < 0:
                return name
        return STAGES[-1]


@dataclass(frozen=True)
class Progress:
    """How far a training is: ``loss`` is in nats a token, over the last step."""

    step: int
    loss: float
    tokens: int


def train(
    plan: Plan,
    tokenizer: Qwen2Tokenizer,
    work: Path,
    every: int = 50,
    enough: Callable[[int], bool] = lambda step: False,
    threads: int = 2,
) -> Iterator[Progress]:
    """Train from where the last run stopped.

    Parameters
    ----------
    plan
        What to do; a state of another plan is refused.
    tokenizer
        The tokenizer.
    work
        The folder of the state, which is kept every ``every`` steps.
    enough
        Called after every step; true to stop now and resume later.
    """
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    model = architecture.build(tokenizer, plan.seed)
    optimizer = Optimizer(model, plan.rate, plan.rate_of_others, plan.decay)
    for step in range(restore(work, plan, model, optimizer), plan.steps):
        for part in optimizer.parts():
            part["lr"] = part["most"] * schedule(step / plan.steps, step, plan.warmup)
        yield Progress(step + 1, *_step(model, optimizer, tokenizer, plan, step))
        stop = enough(step + 1)
        if stop or (step + 1) % every == 0 or step + 1 == plan.steps:
            save(work, plan, model, optimizer, step + 1)
        if stop:
            return


def schedule(share: float, step: int, warmup: int) -> float:
    """The learning rate's factor: a linear rise, then a cosine down to a twentieth."""
    return min(1.0, (step + 1) / warmup) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * share)))


def batches(plan: Plan, tokenizer: Qwen2Tokenizer, step: int) -> Iterator[Batch]:
    """What a step reads."""
    stage = plan.stage(step)
    if stage == "answers":
        yield encode(tokenizer, corpus.answers(plan.seed, step, 2 * plan.groups * plan.rows))
        return
    if stage == "talks":
        yield encode(tokenizer, corpus.talks(plan.seed, step, plan.groups * plan.rows * 3 // 4))
        return
    for part in range(plan.groups):
        number = step * plan.groups + part
        yield encode(tokenizer, corpus.group(plan.seed, number, plan.rows, stage))
    if plan.clerks:
        yield encode(tokenizer, corpus.clerks(plan.seed, step, plan.clerks))


def encode(tokenizer: Qwen2Tokenizer, examples: list[Example]) -> Batch:
    """Examples of one prefix as tokens."""
    answers = [[*ids_of(tokenizer, e.answer), end_of(tokenizer)] for e in examples]
    rests = [ids_of(tokenizer, example.rest) for example in examples]
    return Batch(
        ids_of(tokenizer, examples[0].prefix),
        [rest + answer for rest, answer in zip(rests, answers, strict=True)],
        [len(answer) for answer in answers],
    )


def _step(
    model: Qwen2ForCausalLM,
    optimizer: Optimizer,
    tokenizer: Qwen2Tokenizer,
    plan: Plan,
    step: int,
) -> tuple[float, int]:
    parts = list(batches(plan, tokenizer, step))
    aside = plan.aside if plan.stage(step) in ("few", "short") else 0.0
    learnt, total, tokens = sum(b.weight(aside) for b in parts), 0.0, 0
    for batch in parts:
        part = loss(model, batch, aside) / learnt
        part.backward()  # type: ignore[no-untyped-call]
        total, tokens = total + part.item(), tokens + batch.tokens
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return total, tokens


def save(work: Path, plan: Plan, model: Qwen2ForCausalLM, optimizer: Optimizer, step: int) -> None:
    """Keep everything that the next step depends on; the file is whole or the one before."""
    half = work / "state.part"
    kept = {
        "plan": asdict(plan),
        "step": step,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
    }
    torch.save(kept, half)
    os.replace(half, work / "state.pt")


def restore(work: Path, plan: Plan, model: Qwen2ForCausalLM, optimizer: Optimizer) -> int:
    """Take a kept state up again; returns the steps done.

    Raises
    ------
    ValueError
        The state is of another plan.
    """
    kept = _kept(work)
    if not kept:
        return 0
    if kept["plan"] != asdict(plan):
        raise ValueError(
            f"{work / 'state.pt'} is of another training, {Plan(**kept['plan'])}; "
            "give its options, delete it, or give another --work"
        )
    model.load_state_dict(kept["model"])
    optimizer.load_state_dict(kept["optimizer"])
    return int(kept["step"])


def tokenizer_of(work: Path, plan: Plan) -> Qwen2Tokenizer:
    """The training's tokenizer: learnt at its beginning, then kept."""
    folder = work / "tokenizer"
    if not folder.exists():
        half = work / "tokenizer.part"
        train_tokenizer(corpus.texts(plan.seed), architecture.VOCABULARY).save_pretrained(half)
        os.replace(half, folder)
    return load(folder)


def export(work: Path, plan: Plan, tokenizer: Qwen2Tokenizer, folder: Path) -> int:
    """Write the model to a folder once the training is finished; returns the steps done."""
    kept = _kept(work)
    done = int(kept["step"]) if kept else 0
    if done == plan.steps:
        model = architecture.build(tokenizer, plan.seed)
        model.load_state_dict(kept["model"])
        tokenizer.save_pretrained(folder)
        model.save_pretrained(folder)
        (folder / "model.safetensors").chmod(0o644)
    return done


def _kept(work: Path) -> dict[str, Any]:
    state = work / "state.pt"
    kept: dict[str, Any] = torch.load(state, weights_only=True) if state.exists() else {}
    return kept
