"""Measure a real language model on this machine's CPU: SmolLM2-135M-Instruct, constrained.

- parsed     share of turns and ballots that parse without repair: 5 seats, 6 rounds, 8 wordings
- identical  whether the engine writes the same bytes again, and the same texts with 16, 5 and 1
             slots (whose scores may differ in their last bits)
- masks      decode time of constrained answers over free ones of equal lengths, 16 rows
- rate       tokens per second at 16 rows over transformers' `generate` at batch 16 and one at a
             time, with the same prompts, weights and threads; prefill included, and decoding alone
- prefix     share of the tokens of prompts that need no computing, with a window of 3
- study      seconds and memory of the commands of `make real`, in a folder of its own

`make real` sets up what this needs.
"""

import asyncio
import logging
import os
import re
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[3]))
os.environ["OMP_WAIT_POLICY"] = "passive"  # as the backend lets torch's threads wait

import numpy as np
import torch
from hydra import compose, initialize_config_dir
from measuring import show_figures, watch
from transformers import AutoModelForCausalLM, AutoTokenizer

from plenum.calls.chat import Chat
from plenum.committee.condition import CommitteeCondition, require_committee
from plenum.committee.deliberation import Deliberation
from plenum.design.compose import parse_job
from plenum.records.chain import read_entries
from plenum_hosted import environment, gguf_weights
from plenum_hosted.backend import HostedBackend
from plenum_hosted.engine import Engine, Work
from plenum_hosted.loader import LoadedModel, load, locate
from plenum_hosted.prefixes import Prefixes
from plenum_hosted.rows import DecodingRow
from plenum_hosted.settings import Hosted
from plenum_hosted.shapes import Shapes, room

del os.environ["OMP_WAIT_POLICY"]  # torch has read it; commands that are run set their own

ROOT = Path(__file__).resolve().parents[3]
MODEL, ROWS = "smollm2", 16
WORDED = ("scenario=HL-01", "backend=hosted", "perturbation=variants20")
SHORT = ("protocol.argument_words=30", "sampling.max_tokens=120")
TO_REACH = {
    "parsed": "1.0",
    "rerun_identical": "True",
    "slots_identical": "True",
    "mask_cost": "≤ 1.10",
    "tokens_per_s_over_batch": "≥ 1.0",
    "tokens_per_s_over_single": "≥ 3",
    "prefix_saved": "≥ 0.5",
    "real_s": "≤ 900",
    "real_peak_mb": "≤ 4000",
}
"""What the figures should be."""


def _parsed() -> dict[str, Any]:
    asked = [*WORDED, f"model={MODEL}", "memory=k3", *SHORT]
    size = ("rounds=6", "replicates=8", "tracking=none", "study=parsed")
    asked += ["backend.slots=8", "backend.rung=1792"]  # all rows in one full batch
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(ROOT / "run.py"), "-m", *asked, *size]
        watch(command, cwd=folder, allowed=(0, 1))
        files = sorted(Path(folder).glob("mlruns/journals/**/[0-9]*.jsonl"))
        kinds = Counter(entry["kind"] for file in files for entry in read_entries(file))
    wanted = 8 * (5 * 6 + 5)
    unread = sum(kinds[f"{kind}_repair"] for kind in ("turn", "ballot"))
    return {"parsed": round((kinds["turn"] + kinds["ballot"] - unread) / wanted, 4)}


def _identical() -> dict[str, Any]:
    chats = [replace(chat, max_tokens=64, logprobs=True) for chat in _chats(ROWS // 2)]
    first, again = _told(_backend(16), chats), _told(_backend(16), chats)
    others = [_told(_backend(slots), chats) for slots in (5, 1)]
    return {
        "rerun_identical": first == again,
        "slots_identical": all(_texts(other) == _texts(first) for other in others),
        "slots_scores_identical": all(other == first for other in others),
    }


def _masks() -> dict[str, Any]:
    chats, limit = _chats(ROWS), 120
    costs, kept = [], Prefixes(1 << 32)
    for _ in range(3):
        held, work = _decoded(chats, [limit] * ROWS, held=True, kept=kept)
        lengths = [len(row.answer) for row in held]
        free, without = _decoded(chats, lengths, held=False, kept=kept)
        assert [len(row.answer) for row in held] == [len(row.answer) for row in free]
        costs.append(work.decode_s / without.decode_s)
    return {
        "mask_cost": round(statistics.median(costs), 3),
        "mask_cost_runs": [round(c, 3) for c in costs],
    }


def _rate() -> dict[str, Any]:
    chats, length, single = _chats(ROWS), 96, 4
    began = time.perf_counter()
    _, work = _decoded(chats, [length] * ROWS, held=False)
    ours = ROWS * length / (time.perf_counter() - began)
    decoding = ROWS * length / work.decode_s
    with ThreadPoolExecutor(1) as apart:  # its OpenMP threads would hold up the engine's
        batched, alone = apart.submit(_generate, chats, length, single).result()
    return {
        "tokens_per_s": round(ours, 1),
        "generate_batch_tokens_per_s": round(batched.whole, 1),
        "generate_single_tokens_per_s": round(alone.whole, 1),
        "tokens_per_s_over_batch": round(ours / batched.whole, 2),
        "tokens_per_s_over_single": round(ours / alone.whole, 2),
        "decode_tokens_per_s": round(decoding, 1),
        "decode_over_batch": round(decoding / batched.decoding, 2),
        "decode_over_single": round(decoding / alone.decoding, 2),
        "threads": torch.get_num_threads(),
    }


def _prefix() -> dict[str, Any]:
    condition = _condition("memory=k3", "roles.agents=3", "rounds=5")
    asked, work = asyncio.run(_deliberate(_backend(2), condition))
    computed = work.prefix_tokens + work.rest_tokens
    return {"prefix_saved": round(1 - computed / asked, 3)}


def _study() -> dict[str, Any]:
    recipe = (ROOT / "Makefile").read_text().partition("\nreal: ")[2].partition("\n\n")[0]
    commands = re.findall(r"^\t\$\(BIN\)/python (.*)$", recipe, re.M)
    seconds, peak = 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            script, *rest = command.split()
            seen = watch([sys.executable, str(ROOT / script), *rest], cwd=folder)
            print(seen.output, flush=True)
            seconds, peak = seconds + seen.wall_s, max(peak, seen.peak_mb)
    return {"real_s": round(seconds), "real_peak_mb": round(peak)}


PARTS = {
    "parsed": _parsed,
    "identical": _identical,
    "masks": _masks,
    "rate": _rate,
    "prefix": _prefix,
    "study": _study,
}


def _condition(*overrides: str) -> CommitteeCondition:
    asked = (*WORDED, f"model={MODEL}", *SHORT, *overrides)
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        return require_committee(parse_job(compose("config", list(asked))).condition)


def _hosted(**values: Any) -> Hosted:
    backend = _condition().backend
    assert isinstance(backend, Hosted)
    return replace(backend, **values)


def _backend(slots: int) -> HostedBackend:
    backend = HostedBackend(_hosted(slots=slots))
    backend.check((MODEL,), _condition().sampling)
    return backend


@cache
def _loaded() -> LoadedModel:
    settings = _hosted()
    device = environment.choose("cpu")
    environment.settle(settings, device)
    with ThreadPoolExecutor(1) as loading:  # as the backend does
        return loading.submit(load, MODEL, settings, device).result()


def _chats(number: int) -> list[Chat]:
    """First calls of deliberations that read different wordings."""
    condition = _condition()
    asked = [Deliberation(condition, replicate).ask for replicate in range(number)]
    return [ask.chat for ask in asked if ask is not None]


def _told(backend: HostedBackend, chats: Iterable[Chat]) -> list[tuple[Any, Any]]:
    """Answers to calls that are made at once: the replies, and the scores of their tokens."""

    async def ask() -> list[tuple[Any, Any]]:
        answers = await asyncio.gather(*(backend.attempt(chat, 1) for chat in chats))
        await backend.close()
        return [(answer.reply, answer.logprobs) for answer in answers]

    return asyncio.run(ask())


def _texts(told: list[tuple[Any, Any]]) -> list[str]:
    return [reply.text for reply, _ in told]


def _decoded(
    chats: list[Chat], limits: list[int], held: bool, kept: Prefixes | None = None
) -> tuple[list[DecodingRow], Work]:
    """Rows on a fresh engine, all at once, behind prefixes that may be kept; free ones go on
    to their limits."""
    loaded, threads = _loaded(), _hosted().threads
    shapes = Shapes(slots=ROWS, prefill_rows=1, bucket=16, rung=256)
    stops = loaded.stops if held else frozenset[int]()
    engine = Engine(loaded.network, shapes, stops, 1 << 32, lambda: torch.set_num_threads(threads))
    engine.prefixes = kept or engine.prefixes
    left = threading.Semaphore(0)
    rows = []
    for chat, limit in zip(chats, limits, strict=True):
        prefix, rest = loaded.tokens.prompt(chat.messages)
        row = DecodingRow(
            prefix=prefix,
            rest=rest,
            room=room(shapes, len(prefix), len(rest), limit),
            limit=limit,
            temperature=0.0,
            noise=np.random.default_rng(0),
            scored=False,
            done=lambda _: left.release(),
            form=loaded.forms.start(chat.answer, limit) if held and chat.answer else None,
        )
        rows.append(row)
        engine.submit(row)
    for _ in rows:
        left.acquire()
    engine.close()
    for row in rows:
        if row.error:
            raise row.error
    return rows, engine.work


async def _deliberate(backend: HostedBackend, condition: CommitteeCondition) -> tuple[int, Work]:
    """Two deliberations at once: the tokens of their prompts, and the engine's work."""

    async def deliberate_once(replicate: int) -> int:
        deliberation, read = Deliberation(condition, replicate), 0
        while (ask := deliberation.ask) is not None:
            reply = (await backend.attempt(ask.chat, 1)).reply
            deliberation.answer(reply)
            read += reply.tokens_in
        return read

    asked = sum(await asyncio.gather(deliberate_once(0), deliberate_once(1)))
    work = backend.engine(MODEL).work
    await backend.close()
    return asked, work


class Rate(NamedTuple):
    """Tokens per second: of a whole answer, and without the prefill and the first token."""

    whole: float
    decoding: float


def _generate(chats: list[Chat], length: int, single: int) -> tuple[Rate, Rate]:
    """Tokens per second of `generate`: all prompts in a batch, and some of them one at a time."""
    torch.use_deterministic_algorithms(False)  # generate as its users have it
    torch.set_num_threads(_hosted().threads)
    path, content = locate(MODEL, "main")
    folder = gguf_weights.write_out(MODEL, path, content, "float32")
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    texts = [_loaded().tokens.render(chat.messages) for chat in chats]

    def seconds(batch: list[str], length: int) -> tuple[float, float]:
        """Measure an answer, and its part behind the first token."""
        inputs = tokenizer(batch, return_tensors="pt", padding=True, add_special_tokens=False)
        sizes = {"max_new_tokens": length, "min_new_tokens": length}
        stamps: list[float] = []

        def stamp(_: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            stamps.append(time.perf_counter())
            return scores

        began = time.perf_counter()
        with torch.inference_mode():
            model.generate(**inputs, **sizes, do_sample=False, logits_processor=[stamp])
        ended = time.perf_counter()
        return ended - began, ended - stamps[0]

    def rate(batches: list[list[str]]) -> Rate:
        whole, decoding = map(sum, zip(*(seconds(batch, length) for batch in batches), strict=True))
        rows = sum(map(len, batches))
        return Rate(rows * length / whole, rows * (length - 1) / decoding)

    seconds(texts[:1], 2)  # warm up
    return rate([texts]), rate([[text] for text in texts[:single]])


def main() -> None:
    """Measure each part, print a table for people, and one JSON line for machines."""
    logging.getLogger("transformers").setLevel(logging.ERROR)
    figures: dict[str, Any] = {}
    for name, measure in PARTS.items():
        print(f"{name} ...", flush=True)
        figures |= measure()
    show_figures(figures, TO_REACH)
