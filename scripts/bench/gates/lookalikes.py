"""Let programs toss a fair coin between options that look alike, and count who is called stable.

Each set of options is written as a case file and loaded as `scripts/audit.py` loads it; a set that
is refused there can't be passed. What a program would send of either option, as its label, its
name, JSON or a sentence, goes through the session's own door and is read by the audit's reader;
the outcomes get the audit's verdict. Half of the programs send their decision as it is, the others
as models write it: in bold, with a full stop, in the other case. One says that it is for the first
option, or that it isn't.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plenum.base import UserError, make_generator
from plenum_audit.dynamics import NO_DECISION, STABLE, StabilityRule, judge_case
from plenum_audit.programs import (
    AuditCase,
    GivenDecision,
    UnreadableDecision,
    load_cases,
    read_decision,
)
from plenum_audit.programs.self_reports import RefusedReport, as_decision

SETS: tuple[Mapping[str, str], ...] = (
    {"A": "B", "B": "A"},
    {"A": "C", "B": "A", "C": "B"},
    {"a": "approve", "A": "reject"},
    {"A": "a", "B": "A"},
    {"A": "Yes", "B": "yes"},
    {"A": "Yes", "B": "YES!"},
    {"A": "Yes", "B": "Yes."},
    {"A": "C", "B": "C."},
    {"A": ".5 mg", "B": "5 mg"},
    {"A": "(5 mg)", "B": "5 mg"},
    {"A": "<", "B": ">"},
    {"A": "<5", "B": ">5"},
    {"A": "< 5", "B": "> 5"},
    {"A": "[]", "B": "()"},
    {"A": "...", "B": "***"},
    {"A": "`x`", "B": "'x'"},
    {"A": "*p", "B": "p"},
    {"A": "_x", "B": "x_"},
    {"A": "keep", "\uff21": "sell"},
    {"A": "\uff21\uff22", "B": "AB"},
    {"A": "x\u00b2", "B": "x2"},
    {"A": "\ufb01le", "B": "file"},
    {"A": "Stra\u00dfe", "B": "STRASSE"},
    {"A": "co\u200bop", "B": "coop"},
    {"A": "to do", "B": "to  do"},
    {"1": "2", "2": "3"},
    {"1": "2", "2": "1"},
    {"0": "1", "1": "0"},
    {"A": "Option B", "B": "Option A"},
    {"A": "option B", "B": "none of these"},
    {"A": "B approve", "B": "approve"},
    {"A": "a: approve", "B": "approve", "C": "A"},
    {"x": "1.", "y": "1"},
    {"A": "12:30", "B": "12:30."},
    {"A": "R&D", "B": "r&d"},
    {"A": "IV", "B": "iv", "C": "\u2163"},
    {"A": "\u2460", "B": "1"},
    {"yes": "no", "no": "yes"},
    {"A": "9 a.m.", "B": "9 a.m", "C": "9 p.m."},
    {"A": '"quoted"', "B": "quoted"},
)
"""Options by label; the first two of each look alike, or cross."""

RUNS, AUDITS = 100, 10
_RULES = ("", "json:decision", "regex:DECISION: (.*)", "name")


def measure(quick: bool) -> dict[str, Any]:
    """Sets of which some coin is called stable, those that are refused, and how many there are.

    ``lookalikes_misread`` counts the same where no set is refused, by what reads decisions alone.
    """
    audits = 2 if quick else AUDITS
    stable, refused, misread = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for number, options in enumerate(SETS):
            case = _loaded(Path(folder) / f"{number}.yaml", options)
            unchecked = AuditCase("coin", "Which?", options)
            passed = any(_passed(unchecked, each, audits) for each in _programs(unchecked))
            misread += passed
            refused += case is None
            stable += passed and case is not None
            if passed:
                print(f"stable by a coin: {dict(options)}", flush=True)
            elif case is not None:
                print(f"neither refused nor stable: {dict(options)}", flush=True)
    return {
        "lookalikes_stable": stable,
        "lookalikes_misread": misread,
        "lookalikes_refused": refused,
        "lookalikes_sets": len(SETS),
    }


def _loaded(file: Path, options: Mapping[str, str]) -> AuditCase | None:
    """The case of a file, as an audit loads it; ``None`` where it is refused."""
    file.write_text(
        json.dumps({"id": "coin", "text": "Which?", "options": options}), encoding="utf-8"
    )
    try:
        (case,) = load_cases(file)
    except UserError:
        return None
    return case


def _programs(case: AuditCase) -> Iterator[tuple[str, list[Any]]]:
    """Ways to decide: a rule of the audit, and what is sent of each of the first two options."""
    both = list(case.options.items())[:2]
    yield "", [{"option": label} for label, _ in both]
    yield "name", [f"We are {of} {both[0][1]}" for of in ("for", "not for")]
    for rule in _RULES:
        for part in (0, 1):
            for dressed in ("{}", "**{}**", "{}.", " {}\n"):
                texts = [dressed.format(option[part]) for option in both]
                yield rule, [_sent(rule, text) for text in texts]
        yield rule, [_sent(rule, f"{label}: {name}") for label, name in both]
        yield rule, [_sent(rule, name.swapcase()) for _, name in both]


def _sent(rule: str, text: str) -> str:
    """A text from which a rule reads the decision."""
    if rule.startswith("json:"):
        return json.dumps({"decision": text})
    if rule.startswith("regex:"):
        return f"DECISION: {text.strip()}"
    return f"We went for option {text} in the end" if rule == "name" else text


def _passed(case: AuditCase, program: tuple[str, list[Any]], audits: int) -> bool:
    """Return whether some audit of a fair coin ends stable in an option."""
    rule, sent = program
    read_as = [_outcome(case, each, rule) for each in sent]
    for audit in range(audits):
        rng = make_generator("bench", "lookalikes", audit, *case.options, *case.options.values())
        outcomes = [read_as[toss] for toss in rng.integers(0, 2, RUNS)]
        if judge_case(outcomes, tuple(case.options), StabilityRule()).verdict == STABLE:
            return True
    return False


def _outcome(case: AuditCase, sent: Any, rule: str) -> str:
    """What a run comes to that sends this."""
    try:
        return read_decision(GivenDecision(**as_decision(sent, case.options)), case.options, rule)
    except (RefusedReport, UnreadableDecision):
        return NO_DECISION
