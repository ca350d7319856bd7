"""JUnit XML of an audit: what CI systems show as tests."""

from collections.abc import Hashable, Mapping
from xml.etree import ElementTree

from plenum.base import text
from plenum.dynamics.audits import UNDECIDED, UNSTABLE
from plenum.reports.audit.alike import likeness
from plenum.reports.audit.audit import Audit, CaseAudit
from plenum.reports.audit.words import headline, line, listed


def junit(audit: Audit) -> str:
    """A suite for the program, a test for each case, which agree with the exit status.

    An unstable case is a failure, one that is undecided is skipped, or fails where the audit says
    so. Beside an earlier program only a case that is shown to be worse fails. An audit without a
    verdict is an error, and every case is skipped.
    """
    endings = [_ending(audit, case) for case in audit.cases]
    stopped = bool(audit.stopped)
    counts = {
        "tests": len(endings) + stopped,
        "failures": endings.count("failure"),
        "skipped": endings.count("skipped"),
        "errors": int(stopped),
    }
    totals = {name: str(value) for name, value in counts.items()}
    root = ElementTree.Element("testsuites", totals)
    suite = ElementTree.SubElement(root, "testsuite", {"name": audit.name, **totals})
    _properties(suite, {
        "study": audit.study,
        "origin": audit.controlled.origin,
        "verdict": headline(audit),
        **{f"option {each.name}": each.line() for each in audit.beside.options},
    })  # fmt: skip
    facts = _beside(audit)
    if stopped:
        named = {"name": "the audit ends", "classname": audit.name}
        test = ElementTree.SubElement(suite, "testcase", named)
        ElementTree.SubElement(test, "error", {"message": text.flatten(audit.stopped)})
    said: dict[Hashable, str] = {}
    for case, ending in zip(audit.cases, endings, strict=True):
        _test(suite, audit, case, ending, facts.get(case.id, {}), said)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _ending(audit: Audit, case: CaseAudit) -> str:
    """How the test of a case ends: ``failure``, ``skipped``, or empty."""
    if audit.stopped:
        return "skipped"
    if audit.beside.baseline:
        return "failure" if case.id in audit.worse else ""
    if case.in_family == UNDECIDED:
        return "failure" if audit.exit_status == 1 and audit.verdict == UNDECIDED else "skipped"
    return "failure" if case.in_family == UNSTABLE else ""


def _beside(audit: Audit) -> dict[str, dict[str, str]]:
    """Properties of cases that an earlier program, or a control, decided as well."""
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
    suite: ElementTree.Element,
    audit: Audit,
    case: CaseAudit,
    ending: str,
    facts: Mapping[str, str],
    said: dict[Hashable, str],
) -> None:
    named = {"name": text.flatten(case.id), "classname": audit.name}
    test = ElementTree.SubElement(suite, "testcase", named)
    shown, cost = case.share, case.cost
    _properties(test, {
        "n": str(case.runs),
        "verdict": case.in_family,
        "share": f"{shown.value:.4f}" if shown else "",
        "interval": f"{shown.low:.4f} {shown.high:.4f}" if shown else "",
        "e_stable": f"{case.e_stable:.6g}",
        "e_unstable": f"{case.e_unstable:.6g}",
        "decisions": text.flatten(listed(case.decisions)),
        "dollars": f"{cost.dollars:.6f}" if cost.dollars or not cost.unpriced else "unknown",
        "condition": case.condition,
        **facts,
    })  # fmt: skip
    if ending:
        key = likeness(case)
        message = said[key] = said.get(key) or line(audit, case)
        ended = ElementTree.SubElement(test, ending, {"message": message})
        if ending == "failure":
            ended.set("type", "worse" if audit.beside.baseline else case.in_family)


def _properties(parent: ElementTree.Element, values: Mapping[str, str]) -> None:
    properties = ElementTree.SubElement(parent, "properties")
    for name, value in values.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": text.flatten(value)})
