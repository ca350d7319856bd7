"""The report of a determinism probe (section S1): what n answers to one prompt say."""

import json
import math
import statistics
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path
from typing import Any

from rich.console import Console

from plenum.dynamics.probe import END, Parting, Repeats, Said, repeats
from plenum.reports.sheets import Sheet, limits, markdown, number, show, told
from plenum.secrets import redact
from plenum.tracking import store

Document = Mapping[str, Any]
_FACTORS = ("scenario", "roles", "model", "memory", "temperature", "backend", "settings")
_PENDING = ("interrupted", "budget")
SIMULATED = "simulated agents answered: no evidence about language models"
_SHOWN = 24
"""Characters of a token that a table shows."""


def publish(document: Document, out: Path, uri: str | None) -> list[Path]:
    """Print what a probe found, write it as JSON and Markdown, and log both to MLflow.

    Parameters
    ----------
    document
        What the probe kept: settings, and every call to every model.
    out
        A folder; the files go to one of their own in it, named by time and condition.
    uri
        The tracking store; ``None`` logs nothing.
    """
    lines = [Line(model) for model in document["models"]]
    sheets = [calls(lines, document), texts(lines, document), *logprobs(lines, document)]
    sheets.append(preferences(lines, document))
    verdicts = [f"{line.model}: {verdict(line, document)}" for line in lines]
    files = _write(document, lines, sheets, verdicts, out)
    show(sheets)
    console = Console(width=None if Console().is_terminal else 140)
    for line in verdicts:
        console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)
    print(f"written: {', '.join(map(str, files))}", flush=True)
    if uri is not None:
        _log(document, lines, files, uri)
    return files


class Line:
    """One model's calls, counted and compared.

    Attributes
    ----------
    asked, answered, failed, pending
        Calls; the last two by reason. The first is the sum of the others.
    found
        How far the answers are apart.
    unread
        Answers without a readable STATE line, by reason.
    """

    def __init__(self, probed: Mapping[str, Any]) -> None:
        self.probed = probed
        self.model: str = probed["model"]
        self.seat: str = probed["seat"]
        self.calls: Sequence[Mapping[str, Any]] = probed["calls"]
        self.answers = [call for call in self.calls if call["outcome"] == "ok"]
        others = Counter(c["outcome"] for c in self.calls if c["outcome"] != "ok")
        self.pending = {why: n for why, n in others.items() if why in _PENDING}
        self.failed = {why: n for why, n in others.items() if why not in _PENDING}
        self.asked, self.answered = len(self.calls), len(self.answers)
        self.found: Repeats = repeats([_said(answer) for answer in self.answers])
        self.unread = Counter(a["problem"].partition(":")[0] for a in self.answers if a["problem"])

    @property
    def attempts(self) -> int:
        """Requests made, repeated ones included."""
        return self.answered + sum(len(call["failed_attempts"]) for call in self.calls)

    @property
    def fingerprints(self) -> Counter[str]:
        """System fingerprints with their counts; answers without one aren't counted."""
        return Counter(a["fingerprint"] for a in self.answers if a["fingerprint"])

    @property
    def latency_s(self) -> float:
        """Median latency of the answers; NaN without one."""
        seconds = [answer["latency_s"] for answer in self.answers]
        return statistics.median(seconds) if seconds else math.nan

    @property
    def cost(self) -> float:
        """Dollars for the answers whose price is known."""
        return float(sum(answer["cost"] or 0.0 for answer in self.answers))

    @property
    def unpriced(self) -> int:
        """Answers whose price nobody knows."""
        return sum(answer["cost"] is None for answer in self.answers)

    def tokens(self, side: str) -> int:
        """Tokens ``in`` or ``out``."""
        return sum(answer[f"tokens_{side}"] for answer in self.answers)

    def metrics(self, options: Sequence[str]) -> dict[str, float]:
        """Every number, by name; what doesn't exist is NaN."""
        found, spread = self.found, self.found.preferences
        values: dict[str, float] = {
            "n_asked": self.asked,
            "n_answered": self.answered,
            "n_failed": sum(self.failed.values()),
            "n_pending": sum(self.pending.values()),
            **{f"failed_{why}": count for why, count in self.failed.items()},
            "attempts": self.attempts,
            "distinct_texts": found.distinct,
            "differing": found.differing.value,
            "differing_ci_low": found.differing.ci_low,
            "differing_ci_high": found.differing.ci_high,
            "undetected_at_most": found.undetected,
            "first_difference_earliest": found.parting.earliest if found.parting else math.nan,
            "first_difference_median": found.parting.median if found.parting else math.nan,
            "states_read": spread.n,
            "distinct_preferences": spread.distinct,
            "preference_distance": spread.mean,
            "preference_distance_se": spread.se,
            "preference_distance_max": spread.largest,
            "logprob_spread": found.logprobs.mean,
            "logprob_spread_max": found.logprobs.largest,
            "logprob_positions": found.logprobs.positions,
            "fingerprints": len(self.fingerprints),
            "latency_median_s": self.latency_s,
            "tokens_in": self.tokens("in"),
            "tokens_out": self.tokens("out"),
            "cost": self.cost,
            "unpriced": self.unpriced,
        }
        sd = zip(options, spread.sd, strict=False)  # without an answer there is none
        return {**values, **{f"preference_sd_{option}": value for option, value in sd}}


def _said(answer: Mapping[str, Any]) -> Said:
    preference = answer["preference"]
    tokens = tuple((token, value) for token, value in answer["logprobs"])
    return Said(answer["text"], tuple(preference) if preference else None, tokens)


def verdict(line: Line, document: Document) -> str:
    """What a model's answers mean, in one sentence."""
    found = line.found
    if found.n < 2:
        return f"{_counted(found.n, 'answer')} came, too few to compare"
    if found.distinct == 1:
        told = (
            f"all {found.n} equal: no difference seen; with n = {found.n} a chance of up to "
            f"{100 * found.undetected:.2g} % per call of another text is compatible with that "
            "(95 %, one-sided)"
        )
        if found.logprobs.largest > 0:
            told += (
                "; yet log-probabilities of equal tokens are up to "
                f"{found.logprobs.largest:.2g} apart: the arithmetic isn't the same in every call"
            )
        return told
    return f"{found.n} answers, {found.distinct} distinct: {_why(document)}"


def _why(document: Document) -> str:
    settings = document["settings"]
    temperature = settings["sampling.temperature"]
    if settings["backend"] == "simulated":
        knob = f"the simulated backend's own noise (backend.noise={settings['noise']:g}"
        return f"{knob}, temperature {temperature:g})"
    if temperature > 0:
        return (
            f"at temperature {temperature:g} they are drawn, so that this says nothing about the "
            "server's arithmetic; probe with temperature=t0"
        )
    if settings["send_seed"]:
        return (
            "each call sent a seed of its own, which alone may part them; probe with "
            "backend.send_seed=false"
        )
    return "who answered isn't deterministic at temperature 0 here"


def calls(lines: Sequence[Line], document: Document) -> Sheet:
    """What was asked, what came of it, and what it took."""
    settings = document["settings"]
    factors = told(_FACTORS, [str(settings[name]) for name in _FACTORS])
    pending = any(line.pending for line in lines)
    head = (
        *("model", "seat", "asked", "answered", "failed", *("pending",) * pending, "attempts"),
        *("tokens in", "tokens out", "cost", "median latency", "fingerprints"),
    )
    body = tuple(
        (
            *(line.model, line.seat, str(line.asked), str(line.answered), _reasons(line.failed)),
            *((_reasons(line.pending),) * pending),
            str(line.attempts),
            f"{line.tokens('in'):,}",
            f"{line.tokens('out'):,}",
            _dollars(line),
            "-" if math.isnan(line.latency_s) else f"{line.latency_s:.3f} s",
            _reasons(line.fingerprints, "none sent"),
        )
        for line in lines
    )
    notes = [
        "asked = answered + failed + pending; a failed call is never replaced; attempts: requests, "
        "repeated ones included",
        *_first_failures(lines),
        provenance(document),
    ]
    title = f"Probe: the first turn, {settings['n']} times ({factors})"
    return Sheet(title, head, body, tuple(notes))


def _first_failures(lines: Sequence[Line]) -> list[str]:
    """What the first failure of each kind said: failures tend to be one mistake, many times."""
    models: dict[str, list[str]] = {}
    for line in lines:
        first: dict[str, str] = {}
        for call in line.calls:
            if call["outcome"] in line.failed:
                first.setdefault(call["outcome"], call["detail"])
        for why, detail in first.items():
            models.setdefault(f"{why}: {detail}", []).append(line.model)
    return [
        told if len(named) == len(lines) else f"{told} ({', '.join(named)})"
        for told, named in models.items()
    ]


def provenance(document: Document) -> str:
    """Who answered: a fault server's simulated agents say so, too."""
    line = f"backend: {document['settings']['backend']}"
    return f"{line}; {SIMULATED}" if document["simulated"] else line


def texts(lines: Sequence[Line], document: Document) -> Sheet:
    """How far the texts differ, and where they part."""
    head = (
        *("model", "answers", "distinct", "most frequent", "off it", "95 % CI"),
        *("first difference", "median", "what stands there"),
    )
    notes = (
        "off it: share of answers that aren't the most frequent text [Clopper-Pearson, two-sided]; "
        "first difference, median: earliest and median position over pairs of different texts",
        provenance(document),
    )
    return Sheet("Texts", head, tuple((line.model, *_compared(line)) for line in lines), notes)


def _compared(line: Line) -> tuple[str, ...]:
    found = line.found
    off = found.differing
    counts = (
        *(str(found.n), str(found.distinct), f"{found.n - (off.count or 0)}/{found.n}"),
        *(number(off.value, 3), limits(off.ci_low, off.ci_high, 3)),
    )
    if found.parting is None:
        return (*counts, "-", "-", "-")
    first = f"{found.parting.unit} {found.parting.earliest}"
    return (*counts, first, f"{found.parting.median:g}", _alternatives(found.parting))


def _alternatives(parting: Parting) -> str:
    shown, rest = parting.alternatives[:2], parting.alternatives[2:]
    pairs = zip(shown[0][0], shown[1][0], strict=False)
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    skipped = max(0, same - _SHOWN // 3) if len(shown[0][0]) > _SHOWN else 0
    lines = [f"{count}x {_quoted(unit, skipped)}" for unit, count in shown]
    if rest:
        lines.append(f"{sum(count for _, count in rest)}x {_counted(len(rest), 'other')}")
    return "\n".join(lines)


def _quoted(unit: str, skipped: int) -> str:
    """A token as a terminal can show it: what a model wrote may hold anything."""
    if unit == END:
        return "(end)"
    text = f"…{unit[skipped:]}" if skipped else unit
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def logprobs(lines: Sequence[Line], document: Document) -> list[Sheet]:
    """How far log-probabilities are apart while the texts are equal, where they were asked for."""
    asked = [line for line in lines if line.probed["logprobs_asked"]]
    if not asked:
        return []
    body = []
    for line in asked:
        spread = line.found.logprobs
        sent = (f"{spread.n}/{line.answered}", str(spread.positions))
        body.append((line.model, *sent, _small(spread.mean), _small(spread.largest)))
    head = ("model", "answers with them", "tokens compared", "mean spread", "largest spread")
    notes = (
        "spread: the largest minus the smallest log-probability (nats) of one token between "
        "answers, over the tokens before any two answers part",
        provenance(document),
    )
    return [Sheet("Log-probabilities of equal tokens", head, tuple(body), notes)]


def preferences(lines: Sequence[Line], document: Document) -> Sheet:
    """How far the reported preferences are apart."""
    options = list(document["settings"]["options"])
    head = (
        *("model", "STATE lines read", "unread", "distinct", "mean L2", "jackknife SE", "max L2"),
        *(f"sd p{option}" for option in options),
    )
    body = []
    for line in lines:
        spread = line.found.preferences
        sd = [*spread.sd, *[math.nan] * (len(options) - len(spread.sd))]
        body.append(
            (
                *(line.model, f"{spread.n}/{line.answered}", _reasons(line.unread)),
                *(str(spread.distinct), number(spread.mean, 4), number(spread.se, 4)),
                *(number(spread.largest, 4), *(number(value, 4) for value in sd)),
            )
        )
    notes = (
        "mean, max L2: distance of preference vectors over pairs of answers (D, Eq. 1); sd: "
        "standard deviation of each option's preference",
        provenance(document),
    )
    return Sheet("Preferences", head, tuple(body), notes)


def _reasons(counts: Mapping[str, int], none: str = "0") -> str:
    return "\n".join(f"{why} {count}" for why, count in counts.items()) or none


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _dollars(line: Line) -> str:
    if line.unpriced == line.answered and line.unpriced:
        return "unknown"
    return f"${line.cost:.4f}" + (f" + {line.unpriced} unpriced" if line.unpriced else "")


def _small(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2g}"


def _write(
    document: Document,
    lines: Sequence[Line],
    sheets: Sequence[Sheet],
    verdicts: Sequence[str],
    out: Path,
) -> list[Path]:
    settings = document["settings"]
    stamp = settings["at"].partition("+")[0].replace(":", "-")
    folder = out / f"{stamp}-{settings['condition'][:6]}"
    folder.mkdir(parents=True, exist_ok=True)
    models = [
        {
            **line.probed,
            "summary": {**asdict(line.found), "fingerprints": dict(line.fingerprints)},
            "metrics": line.metrics(settings["options"]),
            "verdict": verdict(line, document),
        }
        for line in lines
    ]
    text = json.dumps(_clean({**document, "models": models}), indent=1, ensure_ascii=False)
    files = [folder / "probe.json", folder / "probe.md"]
    files[0].write_text(redact(text), encoding="utf-8")
    page = "\n".join(["# Determinism probe", "", *(f"{v}  " for v in verdicts), ""])
    written = "\n".join([page, *map(markdown, sheets)])
    files[1].write_text(redact(written), encoding="utf-8")
    return files


def _clean(value: Any) -> Any:
    """JSON has no NaN and no infinity: such numbers become null."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


def _log(document: Document, lines: Sequence[Line], files: Sequence[Path], uri: str) -> None:
    """One run a model in the study's experiment."""
    settings = document["settings"]
    client = store.open_client(uri)
    from mlflow.entities import Metric, Param  # only now: the client sets up how MLflow logs

    experiment = store.experiment(client, uri, settings["study"])
    for line in lines:
        run = client.create_run(
            experiment,
            run_name=f"probe {line.model}",
            tags={
                "plenum.kind": "probe",
                "plenum.condition": settings["condition"],
                "plenum.backend": settings["backend"],
                "plenum.simulated": str(document["simulated"]).lower(),
                "plenum.version": settings["version"],
                "plenum.verdict": verdict(line, document),
            },
        )
        now = int(time.time() * 1000)
        values = {k: v for k, v in line.metrics(settings["options"]).items() if math.isfinite(v)}
        params = {**{name: settings[name] for name in _FACTORS}, "n": settings["n"]}
        params |= {"probed_model": line.model, "seat": line.seat, "prompt": line.probed["prompt"]}
        client.log_batch(
            run.info.run_id,
            metrics=[Metric(name, float(value), now, 0) for name, value in values.items()],
            params=[Param(name, str(value)) for name, value in params.items()],
        )
        for file in files:
            client.log_artifact(run.info.run_id, str(file))
        status = "KILLED" if line.pending else "FAILED" if line.failed else "FINISHED"
        client.set_terminated(run.info.run_id, status)
