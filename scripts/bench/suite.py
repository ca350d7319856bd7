"""Measure how long verdicts on many runs take, beside reading the same file.

    python scripts/bench/suite.py [--only PART] [--quick]

- estimates  seconds of all estimates of 50,000 cases of 4 runs, and peak megabytes
- logs       the whole command on files of 200,000 runs: 50,000 cases of 4 from results of promptfoo
             and from CSV, judged as a suite, and 2,000 cases of 100, a verdict each; next to them
             the seconds in which the standard library reads the same file, in turns
- page       megabytes of the page of 200 cases of 5 runs, with the advice on acting alone

`--quick` takes a tenth of the cases. The last line is JSON with all figures.
"""

import csv
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from measuring import measure_parts, watch
from numpy.typing import NDArray

from plenum_verdicts.suites import (
    SuiteRule,
    SuiteRuns,
    bound_unsteady_cases,
    estimate_disagreement,
    judge_suite,
    score_suite,
)

ROOT = Path(__file__).resolve().parents[2]
RUNS = 200_000
TO_REACH = {"estimates_200k_s": "≤ 1", "logs_200k_s": "≤ 30", "logs_200k_mb": "≤ 1500",
            "logs_by_case_s": "≤ 20", "page_mb": "≤ 1"}  # fmt: skip
"""What the figures should be, on two idle cores."""

_VERDICTS = (0, 1, 3)


def _estimates(quick: bool) -> dict[str, Any]:
    """Time the statistics alone, on cases of which a fifth are coins."""
    draw, cases = np.random.default_rng(5), RUNS // (40 if quick else 4)
    chance = np.where(draw.random(cases) < 0.8, 1.0, 0.5)
    right = (draw.random((cases, 4)) < chance[:, None]).ravel()
    runs = SuiteRuns(
        cases=tuple(map(str, range(cases))),
        outcomes=("wrong", "right"),
        case=np.repeat(np.arange(cases), 4),
        outcome=right.astype(np.intp),
        score=right.astype(float),
    )
    began = time.perf_counter()
    estimate_disagreement(runs), score_suite(runs)
    bound_unsteady_cases(runs), judge_suite(runs, SuiteRule())
    took = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"estimates_200k_s": round(took, 2), "estimates_200k_mb": round(peak)}


def _logs(quick: bool) -> dict[str, Any]:
    """Time the command on each file, and the reading of the file before and after it."""
    runs = RUNS // 10 if quick else RUNS
    seconds, read, megabytes = {}, {}, {}
    for name, write, count, load in (
        ("results.json", _write_promptfoo, 4, json.load),
        ("runs.csv", _write_csv, 4, _read_csv),
        ("cases.jsonl", _write_lines, 100, _read_lines),
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            with path.open("w", encoding="utf-8") as file:
                write(file, np.random.default_rng(6).random(runs) < 0.8, count)
            reads = [_time_reading(path, load)]
            done = watch(_command(f"logs={path}", f"out={folder}/out"), folder, allowed=_VERDICTS)
            reads.append(_time_reading(path, load))
            size = path.stat().st_size / 1e6
        seconds[name], megabytes[name], read[name] = done.wall_s, done.peak_mb, min(reads)
        print(
            f"{name} ({size:.0f} MB): {done.wall_s:.1f} s, {done.peak_mb:.0f} MB; "
            f"the file alone is read in {min(reads):.2f} s"
        )
    suites = ("results.json", "runs.csv")
    return {
        "logs_200k_s": round(max(seconds[name] for name in suites), 1),
        "logs_csv_s": round(seconds["runs.csv"], 1),
        "logs_by_case_s": round(seconds["cases.jsonl"], 1),
        "logs_200k_mb": round(max(megabytes.values())),
        "logs_read_s": {name: round(each, 2) for name, each in read.items()},
    }


def _time_reading(path: Path, load: Callable[[TextIO], object]) -> float:
    began = time.perf_counter()
    with path.open(encoding="utf-8") as file:
        load(file)
    return time.perf_counter() - began


def _read_csv(file: TextIO) -> object:
    return list(csv.DictReader(file))


def _read_lines(file: TextIO) -> object:
    return [json.loads(line) for line in file]


def _page(quick: bool) -> dict[str, Any]:
    """Measure the page of runs with seven options, of which most cases have several."""
    draw, options = np.random.default_rng(7), [f"option number {n}" for n in range(7)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "runs.jsonl")
        with path.open("w", encoding="utf-8") as file:
            for case in range(200):
                chances = draw.dirichlet(np.full(7, 0.3))
                for end in draw.choice(options, 5, p=chances):
                    row = {"case": f"a case with a name, {case}", "decision": end}
                    file.write(json.dumps(row | {"answer": options[case % 7]}) + "\n")
        asked = ("suite=true", "decide=true", f"logs={path}", f"out={folder}/out")
        watch(_command(*asked), folder, allowed=_VERDICTS)
        return {"page_mb": round(Path(folder, "out/suite.html").stat().st_size / 1e6, 3)}


def _command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "scripts/audit.py"), "tracking=none", *arguments]


def _write_csv(file: TextIO, right: NDArray[np.bool_], runs: int) -> None:
    file.write("case,run,decision,right,cost,model\n")
    for n, each in enumerate(right):
        file.write(f"case {n // runs},{n % runs},{'AB'[not each]},{int(each)},0.01,m\n")


def _write_lines(file: TextIO, right: NDArray[np.bool_], runs: int) -> None:
    for n, each in enumerate(right):
        row = {"case": f"case {n // runs}", "decision": "AB"[not each], "cost": 0.01}
        file.write(json.dumps(row) + "\n")


def _write_promptfoo(file: TextIO, right: NDArray[np.bool_], runs: int) -> None:
    """Write results with the members that promptfoo 0.120 writes for a test with one assertion."""
    file.write('{"evalId": "eval-1", "results": {"version": 3, "prompts": [], "results": [')
    for n, each in enumerate(right.tolist()):
        given = {"question": f"Question {n // runs}?"}
        used = {"total": 9, "prompt": 8, "completion": 1, "numRequests": 1}
        asserted = {"type": "equals", "value": "yes"}
        graded = {"pass": each, "score": int(each), "reason": "", "namedScores": {}}
        result = {
            "cost": 0.01,
            "gradingResult": {**graded, "componentResults": [{**graded, "assertion": asserted}]},
            "id": f"{n:08d}-0000-0000-0000-000000000000",
            "latencyMs": 38,
            "namedScores": {},
            "prompt": {"raw": f"Answer: {given['question']}", "label": "Answer: {{question}}"},
            "promptId": "5" * 64,
            "promptIdx": 0,
            "provider": {"id": "m", "label": ""},
            "response": {"output": "yes" if each else "no", "tokenUsage": used, "metadata": {}},
            "score": int(each),
            "success": each,
            "testCase": {"vars": given, "assert": [asserted], "options": {}, "metadata": {}},
            "testIdx": n,
            "vars": given,
            "metadata": {},
            "failureReason": int(not each),
        }
        file.write(("," if n else "") + json.dumps(result))
    file.write("]}}")


if __name__ == "__main__":
    measure_parts(__doc__, {"estimates": _estimates, "logs": _logs, "page": _page}, TO_REACH)
