from .design import VerdictConfig as VerdictConfig
from .judge import LoggedRuns as LoggedRuns
from .judge import check_log as check_log
from .judge import judge_log as judge_log
from .judge import load_runs as load_runs
from .judge import publish_open as publish_open
from .questions import answer_questions as answer_questions
from .questions import judge_suite as judge_suite
from .suites.assessment import assess_suite as assess_suite
from .suites.suite_runs import SuiteRuns as SuiteRuns
from .suites.suite_verdict import SuiteRule as SuiteRule

__all__ = [
    "LoggedRuns",
    "SuiteRule",
    "SuiteRuns",
    "VerdictConfig",
    "answer_questions",
    "assess_suite",
    "check_log",
    "judge_log",
    "judge_suite",
    "load_runs",
    "publish_open",
]
