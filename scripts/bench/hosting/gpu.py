"""Measure the lockstep engine on a GPU: a random-weight model of Qwen2.5-7B's shape, in bfloat16.

For 1, 20 and 240 rows of 900 tokens of prefix (shared by 20 rows), 600 of rest and 64 of answer:

- engine_tokens_per_s    answers' tokens per second of everything, and of decoding alone
- generate_tokens_per_s  the same rows by `generate`, in one batch
- bandwidth_share        bytes that a step has to read (weights, and keys and values of the real
                         tokens) per second of decoding, over what a copy on the device moves
- matrix_share           operations of the prompts' products with the weights per second of prefill,
                         over those of a product of two large matrices
- held_tokens_per_s      tokens per second of decoding of constrained answers, whose masks are those
                         of the tiny model's tokens, filled up to the vocabulary
- reruns_equal           a second run: the same log-probabilities of the answers, bit by bit, and
                         the same constrained answers
- alone_equal            rows alone against the same rows among the others, bit by bit

The last two are measured on the tiny model, too (`tiny_...`), whose numbers aren't random.

`small` runs a small model in single precision on the CPU, to try this: its figures mean nothing.
"""

import json
import sys
import threading
import time
from typing import Any

import numpy as np
import torch
from rich import box
from rich.console import Console
from rich.table import Table
from transformers import AutoModelForCausalLM, Qwen2Config

from plenum.calls.chat import AnswerSchema, make_schema
from plenum_hosted import attention, environment
from plenum_hosted.engine import Engine
from plenum_hosted.forms import Forms
from plenum_hosted.loader import load
from plenum_hosted.network import Network
from plenum_hosted.rows import DecodingRow
from plenum_hosted.settings import Hosted
from plenum_hosted.shapes import Shapes, room

QWEN_7B: dict[str, Any] = {
    "vocab_size": 152064,
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
}
SMALL: dict[str, Any] = {
    "vocab_size": 4096,  # the tiny model's tokens are among them
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
SHARING = 20
FORM = AnswerSchema("argument", make_schema(argument={"type": "string"}))


def main(small: bool) -> None:
    """Measure, print a table for people, and one JSON line for machines."""
    if not small and not torch.cuda.is_available():
        print("hosted.py: no CUDA GPU; `small` tries it on the CPU", file=sys.stderr)
        sys.exit(2)
    settings = Hosted(dtype="float32" if small else "bfloat16")
    device = environment.choose("cpu" if small else "cuda")
    environment.settle(settings, device)
    model = build(SMALL if small else QWEN_7B, settings, device)
    lengths = (40, 24, 8) if small else (900, 600, 64)
    tiny = load("tiny", Hosted(dtype="float32"), device)
    forms = Forms(tiny.tokens.tokenizer, model.config.vocab_size, tiny.stops)
    moved, multiplied = bandwidth(device), matrix_rate(device, model.dtype)
    measured = {
        rows: measure(model, rows, lengths, (moved, multiplied), forms) for rows in (1, 20, 240)
    }
    known = identity(tiny.network.model, 20, (40, 24, 8), tiny.forms)
    show(measured, environment.fingerprint(settings, device))
    print(
        json.dumps(
            {
                **{f"{key}_{rows}": v for rows, m in measured.items() for key, v in m.items()},
                **{f"tiny_{key}": equal for key, equal in known.items()},
                "bandwidth_gb_per_s": round(moved / 1e9),
                "matrix_tflops": round(multiplied / 1e12, 1),
                "device": environment.fingerprint(settings, device)["device"],
                "small": small,
            }
        )
    )
    if not all(m[key] for m in (*measured.values(), known) for key in known):
        sys.exit(1)


def build(shape: dict[str, Any], settings: Hosted, device: torch.device) -> Any:
    """Random weights, made where they are used."""
    attention.register()
    torch.manual_seed(0)
    config = Qwen2Config(**shape, max_position_embeddings=32768, tie_word_embeddings=False)
    with device:
        model: Any = AutoModelForCausalLM.from_config(  # type: ignore[no-untyped-call]
            config, dtype=getattr(torch, settings.dtype), attn_implementation=attention.NAME
        )
    return model.requires_grad_(False)


def measure(
    model: Any,
    rows: int,
    lengths: tuple[int, int, int],
    rates: tuple[float, float],
    forms: Forms,
) -> dict[str, Any]:
    """One number of rows: the engine twice, constrained, single rows, and generate."""
    moved, multiplied = rates
    shapes = shapes_of(rows)
    prompts = make(rows, lengths, model.config.vocab_size)
    _, wall, work = run(model, shapes, prompts, lengths[2], scored=False)
    _, wall_again, work_again = run(model, shapes, prompts, lengths[2], scored=False)
    held, _, held_work = run(model, shapes, prompts, lengths[2], scored=False, forms=forms)
    written, decode_s = rows * lengths[2], min(work.decode_s, work_again.decode_s)
    seen = lengths[0] + lengths[1] + lengths[2] // 2
    read = weights(model) + rows * seen * cache_bytes(model)
    products = 2 * numbers(model) * (work.prefix_tokens + work.rest_tokens)
    prefill_s = min(work.prefill_s, work_again.prefill_s)
    return {
        "engine_tokens_per_s": round(written / min(wall, wall_again), 1),
        "decode_tokens_per_s": round(written / decode_s, 1),
        "generate_tokens_per_s": round(generate(model, prompts, lengths[2]), 1),
        "bandwidth_share": round(read * work.steps / decode_s / moved, 3),
        "matrix_share": round(products / prefill_s / multiplied, 3),
        "held_tokens_per_s": round(sum(len(row.answer) for row in held) / held_work.decode_s, 1),
        **identity(model, rows, lengths, forms),
    }


def shapes_of(rows: int) -> Shapes:
    """The shapes in which so many rows are computed."""
    return Shapes(slots=rows, prefill_rows=min(rows, 4), bucket=64, rung=256)


def identity(model: Any, rows: int, lengths: tuple[int, int, int], forms: Forms) -> dict[str, bool]:
    """Return whether bytes are the same again, and alone."""
    shapes, limit = shapes_of(rows), lengths[2]
    prompts = make(rows, lengths, model.config.vocab_size)
    first, again = (run(model, shapes, prompts, limit)[0] for _ in range(2))
    held, held_again = (run(model, shapes, prompts, limit, forms=forms)[0] for _ in range(2))
    few = list(range(rows))[:: max(1, rows // 3)][:3]
    alone = [run(model, shapes, [prompts[i]], limit)[0][0] for i in few]
    return {
        "reruns_equal": told(first) == told(again) and told(held) == told(held_again),
        "alone_equal": told(alone) == told([first[i] for i in few]),
    }


def told(rows: list[DecodingRow]) -> list[tuple[list[int], list[float]]]:
    """What rows have written, and its log-probabilities."""
    return [(row.answer, row.scores) for row in rows]


def make(rows: int, lengths: tuple[int, int, int], words: int) -> list[tuple[list[int], list[int]]]:
    """Random prompts; some rows share their prefix."""
    rng = np.random.default_rng(0)
    ahead = [rng.integers(3, words, lengths[0]).tolist() for _ in range(-(-rows // SHARING))]
    return [(ahead[i // SHARING], rng.integers(3, words, lengths[1]).tolist()) for i in range(rows)]


def run(
    model: Any,
    shapes: Shapes,
    prompts: list[tuple[list[int], list[int]]],
    limit: int,
    scored: bool = True,
    forms: Forms | None = None,
) -> tuple[list[DecodingRow], float, Any]:
    """All prompts at once on a fresh engine: the rows, seconds, what it did."""
    engine = Engine(Network(model), shapes, frozenset(), 1 << 36)
    left = threading.Semaphore(0)
    rows = [
        DecodingRow(
            prefix=tuple(prefix),
            rest=tuple(rest),
            room=room(shapes, len(prefix), len(rest), limit),
            limit=limit,
            temperature=0.0,
            noise=np.random.default_rng(0),
            scored=scored,
            done=lambda _: left.release(),
            form=forms.start(FORM, limit) if forms else None,
        )
        for prefix, rest in prompts
    ]
    began = time.perf_counter()
    for row in rows:
        engine.submit(row)
    for _ in rows:
        left.acquire()
    wall = time.perf_counter() - began
    engine.close()
    for row in rows:
        if row.error is not None:
            raise row.error
    return rows, wall, engine.work


def generate(model: Any, prompts: list[tuple[list[int], list[int]]], limit: int) -> float:
    """Tokens of answers per second by transformers' generate, all rows in one batch."""
    ids = torch.tensor([prefix + rest for prefix, rest in prompts], device=model.device)
    model.set_attn_implementation("sdpa")
    try:
        wall = float("inf")
        for _ in range(2):
            began = time.perf_counter()
            out = model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=limit,
                do_sample=False,
                eos_token_id=None,
                pad_token_id=0,
            )
            out.cpu()  # waits for the device
            wall = min(wall, time.perf_counter() - began)
    finally:
        model.set_attn_implementation(attention.NAME)
    return len(prompts) * limit / wall


def bandwidth(device: torch.device) -> float:
    """Bytes per second that a copy on the device reads and writes."""
    size = 1 << (31 if device.type == "cuda" else 27)
    source = torch.ones(size // 4, device=device)
    target = torch.empty_like(source)
    best = 0.0
    for _ in range(6):
        began = time.perf_counter()
        target.copy_(source)
        float(target[0])
        best = max(best, 2 * size / (time.perf_counter() - began))
    return best


def matrix_rate(device: torch.device, dtype: torch.dtype) -> float:
    """Operations per second of a product of two large matrices."""
    size = 8192 if device.type == "cuda" else 1024
    left = torch.ones((size, size), device=device, dtype=dtype)
    best = 0.0
    for _ in range(6):
        began = time.perf_counter()
        float((left @ left)[0, 0])
        best = max(best, 2 * size**3 / (time.perf_counter() - began))
    return best


def numbers(model: Any) -> int:
    """Numbers of the layers, by which every token of a prompt is multiplied."""
    return sum(p.numel() for p in model.get_decoder().layers.parameters())


def weights(model: Any) -> int:
    """Bytes of the weights that a step reads: all but the embedding of the tokens."""
    every = sum(p.numel() * p.element_size() for p in model.parameters())
    embedded = model.get_input_embeddings().weight
    return int(every - embedded.numel() * embedded.element_size())


def cache_bytes(model: Any) -> int:
    """Bytes of keys and values of one token."""
    network = Network(model)
    sizes = network.sizes
    return int(2 * sizes.layers * sizes.groups * sizes.d * network.dtype.itemsize)


def show(measured: dict[int, dict[str, Any]], machine: dict[str, str]) -> None:
    """Print the table."""
    table = Table(box=box.SIMPLE_HEAD, title=f"{machine['device']}, {machine['dtype']}")
    table.add_column("rows", justify="right")
    for key in measured[1]:
        table.add_column(key.replace("_", " "), justify="right")
    for rows, figures in measured.items():
        table.add_row(str(rows), *(str(value) for value in figures.values()))
    Console(width=120).print(table)
