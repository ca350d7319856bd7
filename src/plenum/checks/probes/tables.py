"""The tables of a probe: calls, texts, log-probabilities, preferences."""

import math
from collections.abc import Mapping, Sequence
from itertools import takewhile

from plenum.checks.probes.line import Document, Line, counted
from plenum.checks.spread import END, FirstDifference
from plenum.reports.formats import interval, number
from plenum.reports.labels import label
from plenum.reports.sheets import of_cells
from plenum.reports.table import Table

FACTORS = ("scenario", "roles", "model", "memory", "temperature", "backend", "settings")
_SIMULATED = "simulated agents answered: no evidence about language models"
_SHOWN = 24
"""Characters of a token that a table shows."""


def calls(lines: Sequence[Line], document: Document) -> Table:
    """What was asked, what came of it, and what it took."""
    settings = document["settings"]
    factors = label({name: str(settings[name]) for name in FACTORS}, FACTORS)
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
    return of_cells(title, head, body, tuple(notes))


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
    return f"{line}; {_SIMULATED}" if document["simulated"] else line


def texts(lines: Sequence[Line], document: Document) -> Table:
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
    return of_cells("Texts", head, tuple((line.model, *_compared(line)) for line in lines), notes)


def _compared(line: Line) -> tuple[str, ...]:
    found = line.found
    off = found.differing
    counts = (
        *(str(found.n), str(found.distinct), f"{found.n - (off.count or 0)}/{found.n}"),
        *(number(off.value, 3), interval(off.ci_low, off.ci_high, 3)),
    )
    if found.parting is None:
        return (*counts, "-", "-", "-")
    first = f"{found.parting.unit} {found.parting.earliest}"
    return (*counts, first, f"{found.parting.median:g}", _alternatives(found.parting))


def _alternatives(parting: FirstDifference) -> str:
    shown, rest = parting.alternatives[:2], parting.alternatives[2:]
    pairs = zip(shown[0][0], shown[1][0], strict=False)
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    skipped = max(0, same - _SHOWN // 3) if len(shown[0][0]) > _SHOWN else 0
    lines = [f"{count}x {_quoted(unit, skipped)}" for unit, count in shown]
    if rest:
        lines.append(f"{sum(count for _, count in rest)}x {counted(len(rest), 'other')}")
    return "\n".join(lines)


def _quoted(unit: str, skipped: int) -> str:
    """A token as a terminal can show it: what a model wrote may hold anything."""
    if unit == END:
        return "(end)"
    text = f"…{unit[skipped:]}" if skipped else unit
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def logprobs(lines: Sequence[Line], document: Document) -> list[Table]:
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
    return [of_cells("Log-probabilities of equal tokens", head, tuple(body), notes)]


def preferences(lines: Sequence[Line], document: Document) -> Table:
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
    return of_cells("Preferences", head, tuple(body), notes)


def _reasons(counts: Mapping[str, int], none: str = "0") -> str:
    return "\n".join(f"{why} {count}" for why, count in counts.items()) or none


def _dollars(line: Line) -> str:
    if line.unpriced == line.answered and line.unpriced:
        return "unknown"
    return f"${line.cost:.4f}" + (f" + {line.unpriced} unpriced" if line.unpriced else "")


def _small(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2g}"
