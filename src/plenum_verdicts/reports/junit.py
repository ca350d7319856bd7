"""JUnit XML of an audit, which CI systems show as tests."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from xml.sax.saxutils import escape

from plenum.base.text import flatten
from plenum_verdicts.dynamics.audits import UNDECIDED, UNSTABLE
from plenum_verdicts.reports.audit import AuditReport, CaseAudit
from plenum_verdicts.reports.case_groups import make_group_key
from plenum_verdicts.reports.words import causes, format_counts, headline, lead, line

_DECLARATION = "<?xml version='1.0' encoding='utf-8'?>"
_QUOTE = {'"': "&quot;"}


def junit(audit: AuditReport) -> str:
    """Return a suite for the program with a test per case, in agreement with the exit status.

    A verdict on all cases together is one test: few runs show nothing of a single case.

    An unstable case is a failure. An undecided one is skipped, or fails if the audit says so. With
    an earlier program only a case that is shown to be worse fails. An audit without a verdict is an
    error, and every case is skipped. The output of a test says why runs of its case failed or
    reached no decision.
    """
    if audit.suite:
        return _format_suite(audit)
    endings = [_name_result(audit, case) for case in audit.cases]
    stopped = bool(audit.stopped)
    counts = {
        "tests": len(endings) + stopped,
        "failures": endings.count("failure"),
        "skipped": endings.count("skipped"),
        "errors": int(stopped),
    }
    totals = {name: str(value) for name, value in counts.items()}
    opening = _properties({
        "study": audit.study,
        "origin": audit.controlled.origin,
        "verdict": headline(audit),
    })  # fmt: skip
    facts = _collect_properties(audit)
    said: dict[Hashable, str] = {}
    tests = (
        _test(audit, case, ending, facts.get(case.id, {}), said)
        for case, ending in zip(audit.cases, endings, strict=True)
    )
    inside = chain(opening, _stop(audit) if stopped else (), chain.from_iterable(tests))
    suite = _element("testsuite", {"name": audit.name, **totals}, inside)
    return "\n".join([_DECLARATION, *_element("testsuites", totals, suite), ""])


def _format_suite(audit: AuditReport) -> str:
    """Return the one test of all cases together."""
    # Whatever the cases look like: it agrees with the exit status, which is the suite's.
    ending = {True: "", False: "failure", None: "skipped"}[audit.passed]
    counts = {"tests": 1, "failures": ending == "failure", "skipped": ending == "skipped"}
    totals = {name: str(int(value)) for name, value in counts.items()} | {"errors": "0"}
    ended = _element(ending, {"message": lead(audit)}) if ending else ()
    test = _element("testcase", {"name": "all cases", "classname": audit.name}, ended)
    suite = _element("testsuite", {"name": audit.name, **totals}, test)
    return "\n".join([_DECLARATION, *_element("testsuites", totals, suite), ""])


def _stop(audit: AuditReport) -> Iterator[str]:
    """Yield a test for the reason that ended the audit before a verdict."""
    named = {"name": "the audit ends", "classname": audit.name}
    return _element("testcase", named, _element("error", {"message": audit.stopped}))


def _name_result(audit: AuditReport, case: CaseAudit) -> str:
    """Return the result of a case's test: ``failure``, ``skipped``, or empty."""
    if audit.stopped:
        return "skipped"
    if audit.beside.baseline:
        return "failure" if case.id in audit.worse else ""
    if case.in_family == UNDECIDED:
        return "failure" if audit.exit_status == 1 and audit.verdict == UNDECIDED else "skipped"
    return "failure" if case.in_family == UNSTABLE else ""


def _collect_properties(audit: AuditReport) -> dict[str, dict[str, str]]:
    """Return properties of cases that an earlier program, or a control, decided as well."""
    facts: dict[str, dict[str, str]] = {
        each.case: {
            "before": f"{each.before:.4f}",
            "difference": f"{each.difference:+.4f} {each.low:+.4f} {each.high:+.4f}",
            "worse": str(each.worse).lower(),
        }
        for each in audit.beside.baseline
    }
    for control in audit.beside.control:
        if control.disagreement is not None:
            added = {"disagreement_without_talking": f"{control.disagreement:.4f}"}
            facts.setdefault(control.case, {}).update(added)
    return facts


def _test(
    audit: AuditReport,
    case: CaseAudit,
    ending: str,
    facts: Mapping[str, str],
    said: dict[Hashable, str],
) -> Iterator[str]:
    shown, cost = case.share, case.cost
    known = audit.spent and not cost.unpriced
    properties = _properties({
        "n": str(case.runs),
        "verdict": case.in_family,
        "share": f"{shown.value:.4f}" if shown else "",
        "interval": f"{shown.low:.4f} {shown.high:.4f}" if shown else "",
        "e_stable": f"{case.e_stable:.6g}",
        "e_unstable": f"{case.e_unstable:.6g}",
        "decisions": format_counts(case.decisions),
        "dollars": f"{cost.dollars:.6f}" if cost.dollars or known else "unknown",
        "condition": case.condition,
        **facts,
    })  # fmt: skip
    ended: Iterable[str] = ()
    if ending:
        key = make_group_key(case)
        message = said[key] = said.get(key) or line(audit, case)
        attributes = {"message": message}
        if ending == "failure":
            attributes["type"] = "worse" if audit.beside.baseline else case.in_family
        ended = _element(ending, attributes)
    named = {"name": case.id, "classname": audit.name}
    return _element("testcase", named, chain(properties, ended, _output(causes(audit, case))))


def _output(words: str) -> Iterator[str]:
    """Yield the text that CI systems show as the output of a test."""
    if words:
        yield f"<system-out>{escape(flatten(words))}</system-out>"


def _properties(values: Mapping[str, str]) -> Iterator[str]:
    lines = (f"<property name={_quote(n)} value={_quote(v)} />" for n, v in values.items())
    return _element("properties", {}, lines)


def _element(name: str, attributes: Mapping[str, str], inside: Iterable[str] = ()) -> Iterator[str]:
    """Yield an element line by line; a library's tree of 50,000 tests takes seconds and 250 MB."""
    start = f"<{name}" + "".join([f" {key}={_quote(attributes[key])}" for key in attributes])
    rest = iter(inside)
    if (first := next(rest, None)) is None:
        yield f"{start} />"
        return
    yield f"{start}>"
    yield f"  {first}"
    for inner in rest:
        yield f"  {inner}"
    yield f"</{name}>"


@lru_cache(4096)
def _quote(value: str) -> str:
    """Quote a value in one line for an attribute."""
    return f'"{escape(flatten(value), _QUOTE)}"'
