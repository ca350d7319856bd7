"""The accounts of a study: replicates, calls, failures, files (Tables S1 to S3), and attrition."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from omegaconf import DictConfig, OmegaConf

from plenum.dynamics import Association, association, holm
from plenum.errors import UserError
from plenum.reports.rows import FACTORS, Row, grouped, named, shown
from plenum.reports.settings import Settings
from plenum.reports.sheets import Sheet, markdown, number, probability, provenance, show, told
from plenum.tracking import query
from plenum.tracking.query import REASONS, Accounted

_SIGNIFICANT = 0.05
_DIGITS = 16
"""Hexadecimal digits of a SHA-256 that the manifest prints; the CSV has all of them."""

_LINES = 24
"""Longer manifests are written, not printed."""

_VISIBLE = "recorded per attempt in calls.jsonl, per replicate in MLflow"

_WHY = {
    "budget": "the budget is used up",
    "interrupted": "stopped by Ctrl-C, SIGTERM or another call",
    "not_begun": "stopped before the first call",
    "error": "a damaged journal or a bug, which the run's closing lines name",
    "unknown": "killed, or still running",
}


def asked(cfg: DictConfig) -> Settings:
    """Check the config of `scripts/accounting.py`.

    Raises
    ------
    UserError
        The study isn't named.
    """
    if OmegaConf.is_missing(cfg, "study"):
        raise UserError("study: missing; name the study, as in study=hl01_2x2")
    return Settings(str(cfg.study), str(cfg.tracking.uri), Path(cfg.out))


def publish(chosen: Settings) -> None:
    """Print a study's accounts, write them as CSV and Markdown, and log both to MLflow."""
    found = query.accounts(chosen.study, chosen.uri)
    found = sorted(found, key=lambda a: a.tracked.factors["scenario"])
    listed = manifest(found)
    sheets = [*conditions(found), *models(found), failures(found), attrition(found), listed]
    files = _write(chosen.out, found, sheets)
    query.log_report(chosen.study, chosen.uri, files)
    short = [s for s in sheets if s is not listed or len(s.body) <= _LINES]
    show(short)
    if len(short) < len(sheets):
        print(f"the manifest is too long to print: {chosen.out / 'manifest.csv'}")
    print(f"written: {', '.join(map(str, files))}")


def _write(out: Path, found: Sequence[Accounted], sheets: Sequence[Sheet]) -> list[Path]:
    out.mkdir(parents=True, exist_ok=True)
    frames = {
        "accounting": [_condition_record(a, found) for a in found],
        "accounting_models": [_model_record(m, r, found) for m, r in _by_model(found).items()],
        "manifest": [_manifest_record(a) for a in found],
        "failures": [_source_record(source, found) for source in _sources(found)],
    }
    files = []
    for name, records in frames.items():
        files.append(out / f"{name}.csv")
        columns = None if records else ["model", *_Spent._fields]
        pd.DataFrame(records, columns=columns).convert_dtypes().to_csv(files[-1], index=False)
    files.append(out / "accounting.md")
    files[-1].write_text("\n".join(map(markdown, sheets)), encoding="utf-8")
    return files


# --- Table S1 ----------------------------------------------------------------------------------


class _Spent(NamedTuple):
    """What calls took."""

    calls: int
    repairs: int
    attempts: int
    failed_attempts: int
    tokens_in: int
    tokens_out: int
    cost: float
    unpriced: int
    seconds: float


def conditions(found: Sequence[Accounted]) -> list[Sheet]:
    """One line a condition, and a total: replicates, and what their calls took (Table S1)."""
    rows = _rows(found)
    names, same = shown(rows)
    keys = len(names) + same
    reasons, whys = _reasons(found), _whys(found)
    labels = [named(row, names, same) for row in rows]
    groups: list[Sequence[Accounted]] = [[a] for a in found]
    known = [a for a in found if a.models is not None]
    if len(found) > 1:
        labels.append(["total", *[""] * (keys - 1)])
        groups.append(found)
    efforts = [_spent([a]) for a in found] + [_spent(known)]
    head = (*names, *("condition",) * same)
    standing = ("target", "completed", "failed", *reasons, "pending", *map(_spaced, whys))
    replicates = Sheet(
        f"Study {found[0].tracked.study}: replicates by condition ({_fixed(rows, names)})",
        (*head, *map(_spaced, standing), "deficit"),
        tuple(
            (*label, *_counts(group, reasons, whys))
            for label, group in zip(labels, groups, strict=True)
        ),
        (
            "target = completed + failed + pending, these two followed by their reasons; deficit: "
            "target - completed",
            *(f"{_spaced(why)}: {_WHY[why]}" for why in whys if why in _WHY),
            provenance(rows),
        ),
        keys,
    )
    calls = Sheet(
        "Calls by condition",
        (*head, "calls", "repairs", "attempts", "failed attempts", "tokens in", "tokens out", "$"),
        tuple((*label, *_effort(s)) for label, s in zip(labels, efforts, strict=False)),
        (
            "calls: answers, repairs among them; attempts: failed ones among them; $: cost of the "
            "answers, not of failed attempts that a provider bills",
            *_unaccounted(found, labels),
            provenance(rows),
        ),
        keys,
    )
    return [replicates, calls]


def _fixed(rows: Sequence[Row], names: Sequence[str]) -> str:
    """The factors that never vary, in words."""
    rest = [n for n in FACTORS if n not in names and n != "perturbation"]
    return told(rest, [rows[0].tracked.factors[n] for n in rest])


def _rows(found: Iterable[Accounted]) -> list[Row]:
    return [Row(a.tracked, None) for a in found]


def _reasons(found: Iterable[Accounted]) -> list[str]:
    """The reasons of failed replicates that occur."""
    return _in_order({reason for a in found for reason, n in a.tracked.failures.items() if n})


def _whys(found: Iterable[Accounted]) -> list[str]:
    there = {why for a in found for why, n in a.pending.items() if n}
    return sorted(there, key=lambda why: (list(_WHY).index(why) if why in _WHY else -1, why))


def _in_order(reasons: set[str]) -> list[str]:
    """In the order of the taxonomy."""
    return sorted(reasons, key=lambda r: (REASONS.index(r) if r in REASONS else len(REASONS), r))


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _counts(
    group: Sequence[Accounted], reasons: Sequence[str], whys: Sequence[str]
) -> tuple[str, ...]:
    """Replicates of some conditions, which must add up."""
    target = sum(a.tracked.target for a in group)
    completed = sum(a.tracked.completed for a in group)
    failed = [sum(a.tracked.failures.get(r, 0) for a in group) for r in reasons]
    pending = [sum(a.pending.get(w, 0) for a in group) for w in whys]
    if target != completed + sum(failed) + sum(pending):
        raise ValueError(f"{target} replicates are not {completed} + {failed} + {pending}")
    counts = (target, completed, sum(failed), *failed, sum(pending), *pending, target - completed)
    return tuple(f"{n:,}" for n in counts)


def _spent(group: Sequence[Accounted]) -> _Spent | None:
    """What the calls of some conditions took; ``None`` where that isn't known of any."""
    if any(a.models is None for a in group) or not group:
        return None
    return _sum(model for a in group for model in (a.models or {}).values())


def _sum(models: Iterable[dict[str, Any]]) -> _Spent:
    models = list(models)
    outcomes = [Counter(model["attempts"]) for model in models]
    summed = {
        key: sum(model[key] for model in models)
        for key in ("calls", "repairs", "tokens_in", "tokens_out", "cost", "unpriced", "seconds")
    }
    attempts = sum(outcome.total() for outcome in outcomes)
    ok = sum(outcome["ok"] for outcome in outcomes)
    return _Spent(attempts=attempts, failed_attempts=attempts - ok, **summed)


def _effort(spent: _Spent | None) -> tuple[str, ...]:
    if spent is None:
        return ("-",) * 7
    return (*(f"{n:,}" for n in spent[:6]), _dollars(spent))


def _dollars(spent: _Spent) -> str:
    cost = f"{spent.cost:,.2f}" if spent.cost >= 1 or not spent.cost else f"{spent.cost:.4f}"
    return f"{cost} + {spent.unpriced:,} unpriced" if spent.unpriced else cost


def _unaccounted(found: Sequence[Accounted], labels: Sequence[Sequence[str]]) -> list[str]:
    without = [" ".join(name) for name, a in zip(labels, found, strict=False) if a.models is None]
    if not without:
        return []
    return [
        f"no accounts yet: {'; '.join(without)}. The sweep was killed, or still runs; running the "
        "same command again completes them. Until then totals leave these out"
    ]


def _incomplete(found: Sequence[Accounted]) -> list[str]:
    without = sum(a.models is None for a in found)
    return [
        f"attempts and calls of {without} of {len(found)} conditions aren't known yet: see above"
    ] * (without > 0)


def _condition_record(a: Accounted, found: Sequence[Accounted]) -> dict[str, object]:
    t = a.tracked
    spent = _spent([a])
    return {
        **{"study": t.study, **t.factors, "condition": t.identity},
        **{"target": t.target, "completed": t.completed, "failed": sum(t.failures.values())},
        **{f"failed_{reason}": t.failures.get(reason, 0) for reason in _reasons(found)},
        "pending": sum(a.pending.values()),
        **{f"pending_{why}": a.pending.get(why, 0) for why in _whys(found)},
        "deficit": t.target - t.completed,
        **(dict.fromkeys(_Spent._fields) if spent is None else spent._asdict()),
    }


# --- by model ----------------------------------------------------------------------------------


def models(found: Sequence[Accounted]) -> list[Sheet]:
    """One line a model, and their total; no table where no condition has accounts."""
    by_model = _by_model(found)
    if not by_model:
        return []
    outcomes = _outcomes(found)
    head = (
        *("model", "calls", "repairs", "repair rate", "attempts", "failed attempts"),
        *(*map(_spaced, outcomes), "tokens in", "tokens out", "$", "mean latency s"),
    )
    lines = dict(by_model)
    if len(by_model) > 1:
        lines["total"] = [model for group in by_model.values() for model in group]
    body = tuple((name, *_of_model(group, outcomes)) for name, group in lines.items())
    notes = (
        "repair rate: repairs for each call that wasn't one; failed attempts by outcome; mean "
        "latency: of an attempt, failed ones among them",
        *_incomplete(found),
        provenance(_rows(found)),
    )
    return [Sheet("Calls by model", head, body, notes)]


def _by_model(found: Iterable[Accounted]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for a in found:
        for name, model in (a.models or {}).items():
            groups.setdefault(name, []).append(model)
    return dict(sorted(groups.items()))


def _outcomes(found: Iterable[Accounted]) -> list[str]:
    """The outcomes of failed attempts that occur."""
    return _in_order({name for a in found for name in a.outcomes or {}})


def _of_model(group: Sequence[dict[str, Any]], outcomes: Sequence[str]) -> tuple[str, ...]:
    spent = _sum(group)
    by = [sum(model["attempts"].get(outcome, 0) for model in group) for outcome in outcomes]
    return (
        *(f"{spent.calls:,}", f"{spent.repairs:,}", _percent(_repair_rate(spent))),
        *(f"{n:,}" for n in (spent.attempts, spent.failed_attempts, *by)),
        *(f"{spent.tokens_in:,}", f"{spent.tokens_out:,}", _dollars(spent)),
        number(_latency(spent), 3),
    )


def _repair_rate(spent: _Spent) -> float:
    asked_once = spent.calls - spent.repairs
    return spent.repairs / asked_once if asked_once else math.nan


def _latency(spent: _Spent) -> float:
    return spent.seconds / spent.attempts if spent.attempts else math.nan


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"


def _model_record(
    name: str, group: Sequence[dict[str, Any]], found: Sequence[Accounted]
) -> dict[str, object]:
    spent = _sum(group)
    by = {o: sum(model["attempts"].get(o, 0) for model in group) for o in _outcomes(found)}
    return {
        **{"model": name, **spent._asdict()},
        **{f"attempts_{outcome}": count for outcome, count in by.items()},
        **{"repair_rate": _repair_rate(spent), "mean_latency_s": _latency(spent)},
    }


# --- Table S2 ----------------------------------------------------------------------------------


def manifest(found: Sequence[Accounted]) -> Sheet:
    """The run and the files behind each condition (Table S2)."""
    rows = _rows(found)
    names, _ = shown(rows)
    head = (
        *(*names, "condition", "MLflow run"),
        *("ensemble .parquet", "replicates .parquet", "transcripts"),
    )
    body = tuple(
        (*named(row, names, False), a.tracked.identity, a.tracked.run_id, *_short(a))
        for row, a in zip(rows, found, strict=True)
    )
    notes = (
        f"files: the first {_DIGITS} digits of their SHA-256; transcripts: of all replicates', as "
        "cat mlruns/journals/CONDITION/[0-9]*.jsonl | sha256sum gives it",
        *(
            ["-: there is none yet, or it lies on a server"]
            * any(len(a.digests) < 3 for a in found)
        ),
        provenance(rows),
    )
    return Sheet(
        "Manifest: the runs and files behind each condition", head, body, notes, len(names)
    )


_FILES = ("ensemble.parquet", "replicates.parquet", "transcripts")


def _short(a: Accounted) -> list[str]:
    return [a.digests.get(name, "-")[:_DIGITS] for name in _FILES]


def _manifest_record(a: Accounted) -> dict[str, object]:
    t = a.tracked
    return {
        **{"study": t.study, **t.factors, "condition": t.identity, "run_id": t.run_id},
        **{f"sha256_{name.removesuffix('.parquet')}": a.digests.get(name) for name in _FILES},
    }


# --- Table S3 ----------------------------------------------------------------------------------


_FATES = ("attempts", "recovered", "ended", "open", "unused")


class _Source(NamedTuple):
    """What came of one reason to fail; the middle four add up to ``attempts``."""

    source: str
    attempts: int
    recovered: int
    ended: int
    open: int
    unused: int
    replicates_failed: int
    replicates_pending: int
    visibility: str = _VISIBLE

    @property
    def occurred(self) -> bool:
        return bool(self.attempts or self.replicates_failed or self.replicates_pending)


def _sources(found: Sequence[Accounted]) -> list[_Source]:
    """Every reason, whether it occurred or not."""
    sources = []
    for reason in REASONS:
        attempts = Counter[str]()
        for a in found:
            attempts.update((a.outcomes or {}).get(reason, {}))
        source = _Source(
            source=reason,
            attempts=attempts["attempts"],
            recovered=attempts["recovered"],
            ended=attempts["ended"],
            open=attempts["open"],
            unused=attempts["unused"],
            replicates_failed=sum(a.tracked.failures.get(reason, 0) for a in found),
            replicates_pending=sum(a.pending.get(reason, 0) for a in found),
        )
        if source.attempts != source.recovered + source.ended + source.open + source.unused:
            raise ValueError(f"attempts that ended as {reason} don't add up: {source}")
        sources.append(source)
    return sources


def _known(found: Sequence[Accounted]) -> bool:
    """Whether the attempts of any condition are known."""
    return any(a.outcomes is not None for a in found)


def _source_record(source: _Source, found: Sequence[Accounted]) -> dict[str, object]:
    unknown = {} if _known(found) else dict.fromkeys(_FATES)
    return {**source._asdict(), **unknown}


def failures(found: Sequence[Accounted]) -> Sheet:
    """One line a reason that occurred (Table S3)."""
    sources = _sources(found)
    whole = all(a.outcomes is not None for a in found)
    known = _known(found)
    occurred = [source for source in sources if source.occurred]
    none = ", ".join(s.source for s in sources if not s.occurred)
    head = (
        *("source", "attempts", "recovered", "ended the replicate", "open", "unused"),
        *("replicates failed", "replicates pending"),
    )
    body = tuple(
        (s.source, *(f"{n:,}" if known or k > 4 else "-" for k, n in enumerate(s[1:8])))
        for s in occurred
    )
    notes = (
        f"visibility: {_VISIBLE}",
        f"{'none occurred' if whole else 'none seen'}: {none or '-'}",
        "recovered: a later attempt or the repair was read; ended: of the call at which the "
        "replicate failed, by this reason or the next attempt's; open: the replicate is pending; "
        "unused: the clerk's count, which a replicate completes without",
        *_incomplete(found),
        provenance(_rows(found)),
    )
    return Sheet("Failure sources", head, body, notes)


# --- attrition ---------------------------------------------------------------------------------


class _Test(NamedTuple):
    """A test of failure against the conditions, or against the levels of a factor."""

    over: str
    counts: dict[str, tuple[int, int]]
    association: Association
    p_holm: float


def attrition(found: Sequence[Accounted]) -> Sheet:
    """Whether failure goes with the condition, or with a factor of the design."""
    tests = _tests(found)
    head = (
        *("over", "failed/ended", "lowest rate", "highest rate", "test", "chi2"),
        *("Cramér's V", "p", "Holm"),
    )
    body = tuple(_tested(test) for test in tests)
    pending = sum(sum(a.pending.values()) for a in found)
    notes = (
        *_said(tests),
        *_left_out(pending),
        *_methods(tests),
        provenance(_rows(found)),
    )
    title = "Attrition: does failure go with the condition?"
    return Sheet(title, head, body, notes)


def _tests(found: Sequence[Accounted]) -> list[_Test]:
    rows = _rows(found)
    each = {str(n): (row.failed, row.n + row.failed) for n, row in enumerate(rows)}
    varying = [n for n in FACTORS if len({r.tracked.factors[n] for r in rows}) > 1]
    pools = []
    overall = _Test("condition", each, _associated(each), math.nan)
    tested = len(varying) > 1 and not overall.association.untested
    for name in varying if tested else ():
        levels = grouped(rows, (name,))
        counts = {
            level: (sum(r.failed for r in group), sum(r.n + r.failed for r in group))
            for (level,), group in levels.items()
        }
        pools.append((name, counts, _associated(counts)))
    adjusted = holm([pool[2].p for pool in pools])
    return [overall, *(_Test(*pool, float(p)) for pool, p in zip(pools, adjusted, strict=True))]


def _associated(counts: dict[str, tuple[int, int]]) -> Association:
    return association([n - bad for bad, n in counts.values()], [bad for bad, _ in counts.values()])


def _tested(test: _Test) -> tuple[str, ...]:
    a = test.association
    return (
        test.over,
        f"{a.failed:,}/{a.completed + a.failed:,}",
        *(_extreme(test, min), _extreme(test, max), _spaced(a.method)),
        *(number(a.statistic, 2), number(a.cramers_v, 2), probability(a.p)),
        probability(test.p_holm),
    )


def _extreme(test: _Test, which: Callable[..., str]) -> str:
    """The counts of the condition or level that failed least or most; a level's name too."""
    ended = {level: bad / n for level, (bad, n) in test.counts.items() if n}
    if not ended:
        return "-"
    level = which(ended, key=lambda level: ended[level])
    bad, n = test.counts[level]
    by_name = test.over != "condition" and len(set(ended.values())) > 1
    return f"{bad}/{n} {level}" if by_name else f"{bad}/{n}"


def _said(tests: Sequence[_Test]) -> list[str]:
    """What the tests mean, in plain sentences."""
    overall = tests[0].association
    if overall.untested:
        return [f"{overall.untested}: nothing to test"]
    p = _p(overall.p)
    if overall.p < _SIGNIFICANT:
        lines = [
            f"failures are associated with the condition ({p}): estimates of the conditions that "
            "lost most are of a selected set"
        ]
    else:
        lines = [
            f"no association with the condition found ({p}); with {overall.failed:,} failed and "
            f"{overall.completed:,} completed replicates this test could miss one"
        ]
    if overall.least_p > _SIGNIFICANT:
        lines[0] += f": however unevenly they fall, p can't be below {probability(overall.least_p)}"
    own = [test for test in tests[1:] if test.p_holm < _SIGNIFICANT]
    lines += [
        f"failures are associated with {test.over} ({_p(test.p_holm)} by Holm), with the "
        f"highest rate at {_extreme(test, max)}"
        for test in own
    ]
    return lines


def _p(p: float) -> str:
    return f"p = {probability(p)}".replace("= <", "< ")


def _left_out(pending: int) -> list[str]:
    if not pending:
        return []
    return [
        f"{pending:,} pending replicates are no failures and left out; one that fails ends sooner "
        "than one that completes, so while some are pending the rates are too high"
    ]


_TESTS = {
    "fisher": "fisher: Fisher's exact test",
    "chi_square": "chi square: Pearson's test",
    "monte_carlo": "monte carlo: exact test by chi2 over 10,000 tables with the same margins",
}


def _methods(tests: Sequence[_Test]) -> list[str]:
    used = [
        text for name, text in _TESTS.items() if any(t.association.method == name for t in tests)
    ]
    pools = ["factors pool all others; Holm: p adjusted over the factors"] * (len(tests) > 1)
    return ["; ".join([*used, *pools])] if used else []
