"""The verdict on a suite in MLflow: a run of its own, with its files."""

import math
from collections.abc import Sequence
from pathlib import Path

from plenum.base import flatten
from plenum_verdicts.reports.record import name_program
from plenum_verdicts.reports.suite_page import SuitePage
from plenum_verdicts.tracking import Verdict, log_audit


def log_suite(page: SuitePage, files: Sequence[Path], uri: str) -> None:
    """Log a suite, so that its verdict and estimates can be followed over time."""
    suite, runs = page.suite, len(page.source.runs.case)
    metrics = {
        "cases": suite.cases,
        "cases_contradicted": len(suite.contradicted),
        "runs": runs,
        "disagreement": suite.disagreement.value,
        "disagreement_low": suite.disagreement.like[0],
        "disagreement_high": suite.disagreement.like[1],
        "score": suite.score.score.value if suite.score else math.nan,
        "noise_floor": suite.score.floor.value if suite.score else math.nan,
    }
    known = {name: float(each) for name, each in metrics.items() if math.isfinite(each)}
    params = {
        "suite": flatten(name_program(page.settings)),
        "acceptable_disagreement": suite.rule.acceptable,
        "unacceptable_disagreement": suite.rule.unacceptable,
        "alpha": suite.rule.alpha,
    }
    verdict = Verdict(suite.verdict.verdict, runs, known)
    log_audit(page.study, uri, verdict, {}, params, files, page.source.simulated)
