"""Measure the lockstep engine on the tiny model against transformers' generate."""

import asyncio
import json
import logging
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[3]))

import torch
from hydra import compose, initialize_config_dir
from measuring import watch
from rich import box
from rich.console import Console
from rich.table import Table
from transformers import AutoModelForCausalLM, AutoTokenizer

from plenum.base.shares import percent
from plenum.calls.chat import Message
from plenum.committee.condition import CommitteeCondition, require_committee
from plenum.committee.deliberation import Deliberation
from plenum.design.compose import parse_job
from plenum_hosted import checkpoints
from plenum_hosted.backend import HostedBackend
from plenum_hosted.tokens import ChatTokenizer

ROOT = Path(__file__).resolve().parents[3]
CONCURRENT = 40
CEILING_SIZE = 1536
TARGETS = {
    "speedup_vs_single": (8.0, float("inf")),
    "speedup_vs_batched": (1.5, float("inf")),
    "ci_benchmark_s": (0.0, 180.0),
    "full_benchmark_s": (0.0, 5400.0),
}
"""Least and most of each figure that has to be reached."""


@dataclass
class Rate:
    """Seconds and tokens of one way to answer: prompts read, answers written."""

    prefill_s: float = 0.0
    decode_s: float = 0.0
    wall_s: float = 0.0
    read: int = 0
    written: int = 0

    @property
    def per_s(self) -> float:
        """Tokens of answers per second of everything."""
        return self.written / self.wall_s


def main(size: str) -> None:
    """Measure, print a table for people, and one JSON line for machines."""
    quick, full = size == "quick", size == "full"
    logging.getLogger("transformers").setLevel(logging.ERROR)
    conditions = [condition(roles, rounds=1 if quick else 3) for roles in ("on", "off")]
    backend = HostedBackend(conditions[0].backend)  # type: ignore[arg-type]
    backend.check(("tiny",), conditions[0].sampling)
    first, prompts, work = asyncio.run(deliberate(backend, conditions))
    with ThreadPoolExecutor(1) as apart:  # its OpenMP threads would hold up the engine's
        most = conditions[0].sampling.max_tokens
        single, batched = apart.submit(plain, prompts, most, quick).result()
    backend.check(("tiny",), conditions[0].sampling)
    again, _, more = asyncio.run(deliberate(backend, conditions))
    engine = Rate(*(a + b for a, b in zip(vars(first).values(), vars(again).values(), strict=True)))
    shares = matmul_shares(work, more)
    figures: dict[str, Any] = {
        "speedup_vs_single": round(engine.per_s / single.per_s, 2),
        "speedup_vs_batched": round(engine.per_s / batched.per_s, 2),
        "tokens_per_s": round(engine.per_s),
        "tokens_per_s_runs": [round(first.per_s), round(again.per_s)],
        "prefill_tokens_per_s": round(engine.read / engine.prefill_s),
        "decode_tokens_per_s": round(engine.written / engine.decode_s),
        **shares,
    }
    show(engine, single, batched, figures)
    if not quick:
        figures["ci_benchmark_s"] = benchmark("scenario=HL-01,IM-01", "rounds=6")
    if full:
        figures["full_benchmark_s"] = benchmark()
    figures |= {"threads": torch.get_num_threads(), "cpu": backend.environment(("tiny",))["device"]}
    figures |= {"quick": quick}
    judge(figures)
    print(json.dumps(figures))


def judge(figures: dict[str, Any]) -> None:
    """Say which figures are reached."""
    for name, (least, most) in TARGETS.items():
        if name in figures:
            value = figures[name]
            reached = "reached" if least <= value <= most else "NOT REACHED"
            wanted = f"at least {least:g}" if least else f"at most {most:g}"
            print(f"{name}: {value:g}, {wanted}: {reached}")


def condition(roles: str, rounds: int) -> CommitteeCondition:
    """A condition of the hosted benchmark."""
    chosen = ["scenario=HL-01", f"roles={roles}", "backend=hosted", "memory=k5", f"rounds={rounds}"]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        return require_committee(
            parse_job(compose("config", [*chosen, "perturbation=variants20"])).condition
        )


Prompts = dict[int, list[tuple[Message, ...]]]
"""The prompts of all replicates, by the number of the call in its deliberation."""


async def deliberate(
    backend: HostedBackend, conditions: list[CommitteeCondition]
) -> tuple[Rate, Prompts, dict[str, float]]:
    """40 deliberations at once on the engine: the engine's time, and what was asked."""
    prompts: Prompts = defaultdict(list)

    async def deliberate_once(condition: CommitteeCondition, replicate: int) -> tuple[int, int]:
        deliberation, read, written = Deliberation(condition, replicate), 0, 0
        number = 0
        while (ask := deliberation.ask) is not None:
            prompts[number].append(ask.chat.messages)
            reply = (await backend.attempt(ask.chat, 1)).reply
            deliberation.answer(reply)
            read, written, number = read + reply.tokens_in, written + reply.tokens_out, number + 1
        return read, written

    each = CONCURRENT // len(conditions)
    began = time.perf_counter()
    done = await asyncio.gather(*(deliberate_once(c, i) for c in conditions for i in range(each)))
    wall = time.perf_counter() - began
    work = vars(backend.engine("tiny").work).copy()
    await backend.close()
    read, written = (sum(column) for column in zip(*done, strict=True))
    return Rate(work["prefill_s"], work["decode_s"], wall, read, written), prompts, work


def plain(prompts: Prompts, limit: int, quick: bool) -> tuple[Rate, Rate]:
    """`generate` on samples of the prompts: one at a time, and 40 at a time."""
    path = checkpoints.TINY
    torch.use_deterministic_algorithms(False)  # generate as its users have it
    model: Any = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(path, padding_side="left")
    texts = ChatTokenizer(tokenizer)
    turns = [number for number, batch in prompts.items() if len(batch) == CONCURRENT]
    sampled = turns[:: max(1, len(turns) // (1 if quick else 5))][: 1 if quick else 5]
    rendered = {n: [texts.render(messages) for messages in prompts[n]] for n in sampled}
    alone = [text for batch in rendered.values() for text in batch[:: 8 if not quick else 10]]
    answer(model, tokenizer, [alone[0]], limit)  # warm up
    single, batched = Rate(), Rate()
    for text in alone:
        add(single, answer(model, tokenizer, [text], limit))
    for batch in rendered.values():
        add(batched, answer(model, tokenizer, batch, limit))
    return single, batched


def answer(model: Any, tokenizer: Any, texts: list[str], limit: int) -> Rate:
    """One call of generate, and the forward pass over its prompts apart."""
    batch = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False)
    length = batch["input_ids"].shape[1]
    with torch.inference_mode():
        prefill = timed(lambda: model(**batch, use_cache=True, logits_to_keep=1))
        began = time.perf_counter()
        out = model.generate(**batch, max_new_tokens=limit, do_sample=False)
        wall = time.perf_counter() - began
    stop, answers = tokenizer.eos_token_id, out[:, length:].tolist()
    written = sum(row.index(stop) + 1 if stop in row else len(row) for row in answers)
    return Rate(prefill, wall - prefill, wall, int(batch["attention_mask"].sum()), written)


def add(total: Rate, part: Rate) -> None:
    """Add one measurement to others."""
    for key, value in vars(part).items():
        setattr(total, key, getattr(total, key) + value)


def timed(action: Callable[[], Any]) -> float:
    """Seconds that an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def matmul_shares(*works: dict[str, float]) -> dict[str, float]:
    """Floating point operations of real tokens per second, over torch's own ceiling."""
    model = AutoModelForCausalLM.from_pretrained(checkpoints.TINY, dtype=torch.float32)
    body = sum(p.numel() for p in model.model.layers.parameters() if p.dim() == 2)
    head = model.lm_head.weight.numel()
    total = {key: sum(work[key] for work in works) for key in works[0]}
    read = total["prefix_tokens"] + total["rest_tokens"]
    left, right = torch.randn(2, CEILING_SIZE, CEILING_SIZE)
    timed(lambda: left @ right)
    ceiling = max(2 * CEILING_SIZE**3 / timed(lambda: left @ right) for _ in range(10))
    decode = 2 * (body + head) * total["answer_tokens"] / total["decode_s"]
    return {
        "matmul_ceiling_gflops": round(ceiling / 1e9, 1),
        "matmul_share_prefill": round(2 * body * read / total["prefill_s"] / ceiling, 3),
        "matmul_share_decode": round(decode / ceiling, 3),
    }


def benchmark(*overrides: str) -> float:
    """Wall of the hosted benchmark through the command line, with journals and MLflow."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(ROOT / "run.py"), "-m", "+experiment=hosted_benchmark"]
        return round(watch([*command, *overrides], cwd=folder).wall_s, 1)


def show(engine: Rate, single: Rate, batched: Rate, figures: dict[str, Any]) -> None:
    """Print the table."""
    table = Table(box=box.SIMPLE_HEAD, title=f"tiny model, {CONCURRENT} replicates at a time")
    for head in ("way", "answer tokens/s", "prefill tokens/s", "decode tokens/s", "tokens"):
        table.add_column(head, justify="left" if head == "way" else "right")
    for name, rate in (
        ("lockstep engine", engine),
        ("generate, one at a time", single),
        (f"generate, {CONCURRENT} left-padded", batched),
    ):
        table.add_row(
            *(name, f"{rate.per_s:,.0f}", f"{rate.read / rate.prefill_s:,.0f}"),
            *(f"{rate.written / rate.decode_s:,.0f}", f"{rate.read:,} in, {rate.written:,} out"),
        )
    console = Console(width=110)
    console.print(table)
    console.print(
        "prefill tokens of the engine count the prompt as it was asked: its prefix is computed "
        "once and found again after that\n"
        f"torch's matmul: {figures['matmul_ceiling_gflops']} GFLOP/s; share reached in prefill "
        f"{percent(figures['matmul_share_prefill'])} and decode "
        f"{percent(figures['matmul_share_decode'])} "
        "(products with weights alone, real tokens alone)"
    )
