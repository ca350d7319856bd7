"""The command line of ``scripts/train_tiny_model.py``."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from safetensors import SafetensorError

from plenum.base import UserError, resolve_path
from plenum_hosted import checkpoints

WORK = "multirun/tiny_model"


class _Parser(argparse.ArgumentParser):
    """A parser whose refusals are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str]) -> int:
    """Train or evaluate; returns the exit status."""
    options = _options(arguments)
    try:
        if options.evaluate:
            return _evaluate(options)
        return _train(options)
    except (ValueError, UserError, SafetensorError) as error:
        print(f"train_tiny_model.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command goes on from the last kept step", file=sys.stderr)
        return 130


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(
        prog="train_tiny_model.py",
        description="Train the model that ships with the project, or evaluate it.",
    )
    add = parser.add_argument
    add(
        "--out",
        type=Path,
        default=checkpoints.TINY,
        help="folder of the finished model (%(default)s)",
    )
    add(
        "--work", type=Path, default=Path(WORK), help="folder that a run goes on from (%(default)s)"
    )
    add("--steps", type=_whole, help="length of the training in steps")
    add("--minutes", type=_minutes, help="stop after so many minutes, to go on later")
    add("--seed", type=_natural, default=0, help="of the weights and the corpus (%(default)s)")
    add("--threads", type=_whole, default=2, help="of torch (%(default)s)")
    add("--evaluate", action="store_true", help="hold greedy deliberations and count what parses")
    add("--rounds", type=_whole, default=20, help="of an evaluation (%(default)s)")
    add("--wordings", type=_whole, default=3, help="a scenario in an evaluation (%(default)s)")
    return parser.parse_args(arguments)


def _train(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from tiny_model import training

    work, out = (resolve_path(str(path)) for path in (options.work, options.out))
    plan = training.Plan(seed=options.seed)
    if out.resolve() == checkpoints.TINY.resolve() and (options.steps or options.seed):
        raise ValueError("--steps and --seed make another model; give a folder for it with --out")
    if options.steps:
        plan = plan.scaled(options.steps)
    began, limit = time.monotonic(), 60 * (options.minutes or float("inf"))
    tokenizer = training.tokenizer_of(work, plan)
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} steps, loss {task.fields[loss]:.3f}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, refresh_per_second=1) as bar:
        task = bar.add_task("training", total=plan.steps, loss=float("nan"))
        for progress in training.train(
            plan,
            tokenizer,
            work,
            enough=lambda step: time.monotonic() - began > limit,
            threads=options.threads,
        ):
            bar.update(task, completed=progress.step, loss=progress.loss)
            if progress.step % 50 == 0 and not console.is_terminal:
                spent = (time.monotonic() - began) / 60
                console.print(
                    f"step {progress.step}, loss {progress.loss:.3f}, after {spent:.1f} min"
                )
    done = training.export(work, plan, tokenizer, out)
    spent = (time.monotonic() - began) / 60
    if done < plan.steps:
        console.print(f"stopped after step {done} of {plan.steps}; the same command goes on")
    else:
        console.print(
            f"{plan.steps} steps, {spent:.1f} min in this run; the model is {options.out}"
        )
    return 0


def _evaluate(options: argparse.Namespace) -> int:
    from tiny_model import evaluation

    folder = resolve_path(str(options.out))
    checkpoints.check(str(options.out), folder)
    evaluation.report(folder, options.rounds, options.wordings, options.threads)
    return 0


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed; give a whole number from 1")
    return int(text)


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed; give a whole number from 0")
    return int(text)


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = -1
    if not 0 < minutes < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed; give minutes above 0")
    return minutes
