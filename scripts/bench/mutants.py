"""Compare two test suites by mutation: how many of the same small bugs does each of them find?

python scripts/bench/mutants.py OLD NEW [--count 30] [--jobs 2] [--out mutants.jsonl]

OLD and NEW are checkouts of the project. Functions of a room that are equal in both, wherever they
stand, get the same mutation by an operator of cosmic-ray (``pip install cosmic-ray``), one at a
time, in a copy; then that room's tests run until the first failure. Results are appended to
``--out``, and a second call goes on from there. The last line is one JSON object.
"""

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOMS = ("committee", "records", "execution", "dynamics")
OPERATORS = (
    *("NumberReplacer", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr"),
    *("ReplaceOrWithAnd", "AddNot", "ReplaceBreakWithContinue", "ZeroIterationForLoop"),
    *("ReplaceComparisonOperator_Lt_LtE", "ReplaceComparisonOperator_Gt_GtE"),
    *("ReplaceComparisonOperator_LtE_Lt", "ReplaceComparisonOperator_GtE_Gt"),
    *("ReplaceComparisonOperator_Eq_NotEq", "ReplaceComparisonOperator_Is_IsNot"),
    *("ReplaceBinaryOperator_Add_Sub", "ReplaceBinaryOperator_Sub_Add"),
    *("ReplaceBinaryOperator_Mul_Div", "ReplaceBinaryOperator_Div_Mul"),
    *("ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_USub_UAdd"),
)
TIMEOUT = 3600
"""Seconds after which a run of tests counts as one that found the bug: it hangs."""


@dataclass(frozen=True)
class Mutant:
    """A function, and what it becomes; both as ``ast.unparse`` writes them."""

    room: str
    name: str
    before: str
    after: str

    @property
    def key(self) -> str:
        """Names the mutant; sorting by it is a random order that stays."""
        return hashlib.sha256(f"{self.before}\0{self.after}".encode()).hexdigest()[:16]


def functions(code: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The outermost functions and methods of a module."""
    stack: list[ast.AST] = [ast.parse(code)]
    while stack:
        for child in ast.iter_child_nodes(stack.pop()):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield child
            elif isinstance(child, ast.ClassDef):
                stack.append(child)


def by_text(checkout: Path, room: str) -> dict[str, Path]:
    """The files of a room by the functions that they hold."""
    return {
        ast.unparse(function): file
        for file in sorted((checkout / "src/plenum" / room).rglob("*.py"))
        for function in functions(file.read_text())
    }


def mutants(old: Path, new: Path, room: str, count: int) -> list[Mutant]:
    """Some mutants of functions that both checkouts have, in an order that stays."""
    from cosmic_ray.ast import get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    shared, by_key = by_text(old, room).keys(), {}
    for file in sorted((new / "src/plenum" / room).rglob("*.py")):
        code = file.read_text()
        before = {ast.unparse(f): f.name for f in functions(code)}
        for name in OPERATORS:
            operator = get_operator(f"core/{name}")()
            tree = get_ast(code)
            places = sum(len(list(operator.mutation_positions(node))) for node in _nodes(tree))
            for place in range(places):
                mutated = mutate_code(code, operator, place)
                if mutated is None:
                    break
                try:
                    after = {ast.unparse(f): f.name for f in functions(mutated)}
                except SyntaxError:  # a few operators forget parentheses
                    continue
                gone, come = before.keys() - after.keys(), after.keys() - before.keys()
                if len(gone) == len(come) == 1 and gone <= shared:
                    text = gone.pop()
                    mutant = Mutant(room, before[text], text, come.pop())
                    by_key[mutant.key] = mutant
    return [by_key[key] for key in sorted(by_key)[:count]]


def _nodes(tree: object) -> Iterator[object]:
    yield tree
    for child in getattr(tree, "children", ()):
        yield from _nodes(child)


def run(checkout: Path, mutant: Mutant) -> str | None:
    """``killed`` or ``survived`` by the room's tests; None where the function isn't there."""
    file = by_text(checkout, mutant.room).get(mutant.before)
    if file is None:
        return None
    code = file.read_text()
    place = next(f for f in functions(code) if ast.unparse(f) == mutant.before)
    first = min([place.lineno, *(d.lineno for d in place.decorator_list)]) - 1
    lines = code.splitlines(keepends=True)
    indented = textwrap.indent(mutant.after, " " * place.col_offset) + "\n"
    file.write_text("".join([*lines[:first], indented, *lines[place.end_lineno :]]))
    tested = checkout / "tests/plenum" / mutant.room
    if not tested.is_dir():  # before the tests were divided by package
        tested = checkout / "tests" / mutant.room
    near = sorted(tested.rglob(f"test_{file.stem}*.py"))
    tests = [*map(str, near), str(tested)]
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=checkout,
            env={**_environment(), "PYTHONPATH": str(checkout / "src")},
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        return "killed" if done.returncode in (1, 2, 3, 4) else "survived"
    except subprocess.TimeoutExpired:
        return "killed"
    finally:
        file.write_text(code)


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(("PLENUM_", "MLFLOW_"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--count", type=int, default=30, help="mutants a room")
    parser.add_argument("--jobs", type=int, default=2, help="test runs at a time")
    parser.add_argument("--side", choices=("old", "new"), help="run one suite alone")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    options = parser.parse_args()
    for checkout in (options.old, options.new):
        if not (checkout / "src/plenum").is_dir():
            parser.error(f"{checkout}: no checkout of the project")
    sides = {"old": options.old.resolve(), "new": options.new.resolve()}
    wanted = [m for room in ROOMS for m in mutants(options.old, options.new, room, options.count)]
    results = {}
    if options.out.exists():
        for line in map(json.loads, options.out.read_text().splitlines()):
            results[line["key"], line["side"]] = line["result"]
    due = [
        (side, mutant)
        for mutant in wanted
        for side in sides
        if (mutant.key, side) not in results and options.side in (None, side)
    ]
    with tempfile.TemporaryDirectory() as scratch, options.out.open("a") as out:
        copies: dict[str, Queue[Path]] = {side: Queue() for side in sides}
        for side in {side for side, _ in due}:
            for number in range(options.jobs):
                copy = Path(scratch, side, str(number))
                left_out = shutil.ignore_patterns(".git", ".venv", "mlruns", "outputs", "*.pyc")
                copies[side].put(shutil.copytree(sides[side], copy, ignore=left_out))

        def tested(task: tuple[str, Mutant]) -> tuple[str, Mutant, str | None]:
            side, mutant = task
            copy = copies[side].get()
            try:
                return side, mutant, run(copy, mutant)
            finally:
                copies[side].put(copy)

        with ThreadPoolExecutor(options.jobs) as pool:
            for n, (side, mutant, result) in enumerate(pool.map(tested, due), start=1):
                results[mutant.key, side] = result
                line = {"key": mutant.key, "side": side, "result": result}
                line |= {"room": mutant.room, "function": mutant.name, "after": mutant.after}
                print(json.dumps(line), file=out, flush=True)
                print(f"{n}/{len(due)} {side} {mutant.room} {mutant.name}: {result}", flush=True)
    report(wanted, results)


def report(wanted: list[Mutant], results: dict[tuple[str, str], str | None]) -> None:
    """Print the kills of both suites by room, and the mutants that only the old one kills."""
    both = [m for m in wanted if results.get((m.key, "old")) and results.get((m.key, "new"))]
    killed = {s: [m for m in both if results[m.key, s] == "killed"] for s in ("old", "new")}
    print(f"{'room':<12}{'mutants':>9}{'old kills':>11}{'new kills':>11}")
    for room in (*ROOMS, None):
        counts = [sum(room in (None, m.room) for m in ms) for ms in (both, *killed.values())]
        print(f"{room or 'all':<12}{counts[0]:>9}{counts[1]:>11}{counts[2]:>11}")
    for mutant in killed["old"]:
        if mutant not in killed["new"]:
            print(f"only the old suite: {mutant.key} {mutant.room} {mutant.name}")
    figures = {"mutants": len(both), **{f"{s}_kills": len(ms) for s, ms in killed.items()}}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
