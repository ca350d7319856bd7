"""Measure the errors of what an audit says of a suite with few runs a case.

    python scripts/bench/suite.py [--only PART] [--quick]

On draws of 50 cases and 4 runs from known mixtures:

- coverage  how often 95 % intervals hold the disagreement, pass^k and the noise floor, for these
            cases and for cases like these; the worst and the best mixture
- bound     how often the exact bounds hold the number of unsteady cases
- bias      of the consistency 1 - 2 G, and of the plug-in (2 p - 1)² at five runs of a coin
- verdict   false verdicts on mixtures at the thresholds, looking after every case
- gates     predicted flips of ten gates against 20,000 fresh pairs of reruns, with known chances
            and with those estimated from the runs; how often their limits hold; what better gates
            gain
- compare   false claims on two programs at the boundaries, with equal and unequal repeats
- buy       errors after 200 advised runs, over those after four more repeats of every case
- sources   how often the interval of what a column adds to differences of runs holds; the bias of
            all parts
- varied    the intervals and bounds with 2 to 6 runs a case; graded scores; false names
- size      seconds and peak megabytes for 50,000 cases of 4 runs
- logs      the same for the whole command, from results of promptfoo and from CSV; the worse one
- page      megabytes of the page of 200 cases of 5 runs, with the advice on acting alone

The last line is JSON with all figures.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray
from suite_buying import measure_buying
from suite_compare import measure_comparisons
from suite_draws import CASES, MIXTURES, RUNS, Shares, draw_runs, right_or_wrong
from suite_gates import measure_gates
from suite_sources import measure_sources
from suite_varied import measure_varied

from plenum_audit.suites import (
    RunningSuite,
    SuiteRule,
    bound_unsteady_cases,
    estimate_disagreement,
    judge_suite,
    score_suite,
)

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Measure the parts, and print a line each and the figures as JSON."""
    parts: dict[str, Callable[[int], dict[str, Any]]] = {
        "coverage": _coverage, "bound": _bound, "bias": _bias, "verdict": _verdict,
        "gates": measure_gates, "compare": measure_comparisons, "buy": measure_buying,
        "sources": measure_sources, "varied": measure_varied, "size": _size, "logs": _logs,
        "page": _page,
    }  # fmt: skip
    lines = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=lines)
    parser.add_argument("--only", choices=parts, help="one part")
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    asked = parser.parse_args()
    figures: dict[str, Any] = {}
    for name in [asked.only] if asked.only else parts:
        figures |= parts[name](200 if asked.quick else 2_000)
    print(json.dumps(figures))


def _half_at_the_share(draw: np.random.Generator, cases: int) -> Shares:
    return right_or_wrong(np.where(draw.random(cases) < 0.5, 0.95, 0.94))


def _apart(shares: Shares) -> Shares:
    return np.asarray(1 - (shares**2).sum(axis=-1))


def _coverage(draws: int) -> dict[str, Any]:
    draw = np.random.default_rng(1)
    held: dict[str, dict[str, float]] = {}
    for name, mixture in MIXTURES.items():
        all_shares = mixture(draw, 1_000_000)
        right = all_shares[:, 0]
        floor = float(np.sqrt((right * (1 - right)).mean() / CASES))
        passing = [float((right**k).mean()) for k in (1, 2, 3, 4)]
        apart = float(_apart(all_shares).mean())
        hits: dict[str, list[bool]] = {}
        for _ in range(draws):
            shares = mixture(draw, CASES)
            runs = draw_runs(draw, shares)
            of = estimate_disagreement(runs)
            scored = score_suite(runs)
            own = shares[:, 0]
            for key, value, limits in (
                ("G_like", apart, of.like),
                ("G_these", float(_apart(shares).mean()), of.these),
                ("floor_like", floor, scored.floor.like),
                (
                    "floor_these",
                    float(np.sqrt((own * (1 - own)).mean() / CASES)),
                    scored.floor.these,
                ),
                *((f"pass^{k + 1}_like", passing[k], e.like) for k, e in enumerate(scored.passing)),
                *(
                    (f"pass^{k + 1}_these", float((own ** (k + 1)).mean()), e.these)
                    for k, e in enumerate(scored.passing)
                ),
                ("score_these", float(own.mean()), scored.score.these),
            ):
                hits.setdefault(key, []).append(limits[0] - 1e-9 <= value <= limits[1] + 1e-9)
        held[name] = {key: float(np.mean(each)) for key, each in hits.items()}
        print(f"{name}: " + ", ".join(f"{k} {v:.3f}" for k, v in held[name].items()), flush=True)

    def worst(prefix: str, of: str) -> float:
        return min(
            v for each in held.values() for k, v in each.items() if k.startswith(prefix) and of in k
        )

    return {
        "coverage_G": worst("G", "like"), "coverage_G_these": worst("G", "these"),
        "coverage_passk": worst("pass", "like"), "coverage_passk_these": worst("pass", "these"),
        "coverage_floor": worst("floor", "like"), "coverage_floor_these": worst("floor", "these"),
        "coverage_score_these": worst("score", "these"),
    }  # fmt: skip


def _bound(draws: int) -> dict[str, Any]:
    draw, least = np.random.default_rng(2), {}
    mixtures = MIXTURES | {"half at .95": _half_at_the_share}
    for name, mixture in mixtures.items():
        kind = float((mixture(draw, 1_000_000).max(axis=1) < 0.95).mean())
        these, like = [], []
        for _ in range(draws):
            shares = mixture(draw, CASES)
            bounds = bound_unsteady_cases(draw_runs(draw, shares))
            bad = float((shares.max(axis=1) < 0.95).mean())
            these.append(bounds.these[0] - 1e-9 <= bad <= bounds.these[1] + 1e-9)
            like.append(bounds.like[0] - 1e-9 <= kind <= bounds.like[1] + 1e-9)
        least[name] = min(float(np.mean(these)), float(np.mean(like)))
        print(f"bound, {name}: these {np.mean(these):.3f}, like {np.mean(like):.3f}", flush=True)
    return {"bound_holds": min(least.values())}


def _bias(draws: int) -> dict[str, Any]:
    draw, worst = np.random.default_rng(3), 0.0
    for mixture in MIXTURES.values():
        shares = mixture(draw, CASES * draws)
        right = shares[:, 0]
        true = float((1 - 4 * right * (1 - right)).mean())
        scored = score_suite(draw_runs(draw, shares))
        assert scored.consistency is not None
        worst = max(worst, abs(scored.consistency.value - true))
    coins = draw.binomial(5, 0.5, 100_000) / 5
    return {
        "consistency_bias": round(worst, 4),
        "plug_in_of_a_coin_at_5": round(float(((2 * coins - 1) ** 2).mean()), 4),
    }


def _verdict(draws: int) -> dict[str, Any]:
    rule, draw = SuiteRule(), np.random.default_rng(4)
    low, high = (0.5 - np.sqrt(0.25 - g / 2) for g in (rule.acceptable, rule.unacceptable))
    chances = {"even": (low, high, 1.0), "coins": (0.5, 0.5, 2.0), "rare": (0.1, 0.1, 1 / 0.18)}
    false_stable: list[float] = []
    false_unstable: list[float] = []
    for at_low, at_high, share in chances.values():
        unsteady, steady = 1.0, 1.0
        if share != 1:
            unsteady, steady = share * rule.acceptable, share * rule.unacceptable
        for chance, part, wrong, seen in (
            (at_high, steady, "stable", false_stable),
            (at_low, unsteady, "unstable", false_unstable),
        ):
            drawn = [np.where(draw.random(200) < part, chance, 0.0) for _ in range(draws)]
            seen.append(float(np.mean([_looks(draw, each, rule) == wrong for each in drawn])))
    power = {
        f"power_{g}": float(
            np.mean(
                [
                    judge_suite(
                        draw_runs(
                            draw, right_or_wrong(np.where(draw.random(CASES) < 2 * g, 0.5, 1.0))
                        ),
                        rule,
                    ).verdict
                    == ("stable" if g < rule.acceptable else "unstable")
                    for _ in range(draws)
                ]
            )
        )
        for g in (0.0, 0.02, 0.3, 0.4)
    }
    return {
        "suite_false_stable": max(false_stable),
        "suite_false_unstable": max(false_unstable),
        **power,
    }


def _looks(draw: np.random.Generator, share: Shares, rule: SuiteRule) -> str:
    """Return the first verdict that is reached, looking after every case."""
    running = RunningSuite(rule)
    for apart in draw_runs(draw, right_or_wrong(share)).disagreements():
        running.add(np.array([apart]))
        if (verdict := running.verdict.verdict) != "undecided":
            return verdict
    return "undecided"


def _size(_: int) -> dict[str, Any]:
    draw = np.random.default_rng(5)
    runs = draw_runs(draw, MIXTURES["80/20"](draw, 50_000))
    began = time.perf_counter()
    estimate_disagreement(runs), score_suite(runs)
    bound_unsteady_cases(runs), judge_suite(runs, SuiteRule())
    took = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"estimates_200k_s": round(took, 2), "estimates_200k_mb": round(peak)}


def _logs(_: int) -> dict[str, Any]:
    """Audit files of 200,000 runs by the command, each in a process of its own."""
    seconds, megabytes = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (("results.json", _write_promptfoo), ("runs.csv", _write_csv)):
            path = Path(folder, name)
            with path.open("w", encoding="utf-8") as file:
                write(file, np.random.default_rng(6).random(200_000) < 0.8)
            command = [
                *(sys.executable, str(ROOT / "scripts/audit.py"), "tracking=none"),
                *(f"logs={path}", f"out={folder}/out"),
            ]
            began = time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            seconds[name] = time.perf_counter() - began
            assert done.returncode == 1, done.stderr
            megabytes[name] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            size = path.stat().st_size / 1e6
            print(f"{name} ({size:.0f} MB): {seconds[name]:.1f} s, {megabytes[name]:.0f} MB")
    return {
        "logs_200k_s": round(max(seconds.values()), 1),
        "logs_200k_mb": round(max(megabytes.values())),
    }


def _page(_: int) -> dict[str, Any]:
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
        command = [
            *(sys.executable, str(ROOT / "scripts/audit.py"), "tracking=none", f"logs={path}"),
            *("suite=true", "decide=true", f"out={folder}/out"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        return {"page_mb": round(Path(folder, "out/suite.html").stat().st_size / 1e6, 3)}


def _write_csv(file: TextIO, right: NDArray[np.bool_]) -> None:
    file.write("case,run,decision,right,cost,model\n")
    for n, each in enumerate(right):
        file.write(f"case {n // RUNS},{n % RUNS},{'AB'[not each]},{int(each)},0.01,m\n")


def _write_promptfoo(file: TextIO, right: NDArray[np.bool_]) -> None:
    """Write results with the members that promptfoo 0.120 writes for a test with one assertion."""
    file.write('{"evalId": "eval-1", "results": {"version": 3, "prompts": [], "results": [')
    for n, each in enumerate(right.tolist()):
        given = {"question": f"Question {n // RUNS}?"}
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
    main()
