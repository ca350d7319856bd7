"""JUnit XML of an audit: what CI systems show as tests."""

from collections.abc import Mapping
from xml.etree import ElementTree

from plenum.base import text
from plenum.dynamics.audits import UNDECIDED, UNSTABLE
from plenum.reports.audit.audit import Audit, CaseAudit
from plenum.reports.audit.words import line, listed


def junit(audit: Audit) -> str:
    """A suite for the program, a test for each case.

    An unstable case is a failure, one that is undecided is skipped.
    """
    counts = {
        "tests": len(audit.cases),
        "failures": len(audit.of("unstable")),
        "skipped": len(audit.of("undecided")),
        "errors": 0,
    }
    totals = {name: str(value) for name, value in counts.items()}
    root = ElementTree.Element("testsuites", totals)
    suite = ElementTree.SubElement(root, "testsuite", {"name": audit.name, **totals})
    _properties(suite, {"study": audit.study, "origin": audit.controlled.origin})
    for case in audit.cases:
        _test(suite, audit, case)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _test(suite: ElementTree.Element, audit: Audit, case: CaseAudit) -> None:
    named = {"name": text.flatten(case.id), "classname": audit.name}
    test = ElementTree.SubElement(suite, "testcase", named)
    shown = case.share
    _properties(test, {
        "n": str(case.runs),
        "share": f"{shown.value:.4f}" if shown else "",
        "interval": f"{shown.low:.4f} {shown.high:.4f}" if shown else "",
        "e_stable": f"{case.e_stable:.6g}",
        "e_unstable": f"{case.e_unstable:.6g}",
        "decisions": text.flatten(listed(case.decisions)),
        "dollars": f"{case.cost.dollars:.6f}",
        "condition": case.condition,
    })  # fmt: skip
    ending = {UNSTABLE: "failure", UNDECIDED: "skipped"}.get(case.in_family)
    if ending:
        message = ElementTree.SubElement(test, ending, {"message": line(audit, case)})
        if ending == "failure":
            message.set("type", "unstable")


def _properties(parent: ElementTree.Element, values: Mapping[str, str]) -> None:
    properties = ElementTree.SubElement(parent, "properties")
    for name, value in values.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": text.flatten(value)})
