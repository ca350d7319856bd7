from .arguments import quote_argument as quote_argument
from .design import FOR_SUITES as FOR_SUITES
from .design import VerdictConfig as VerdictConfig
from .design import check_verdict as check_verdict
from .judge import LoggedRuns as LoggedRuns
from .judge import find_worst as find_worst
from .judge import judge_config as judge_config
from .judge import judge_groups as judge_groups
from .judge import judge_log as judge_log
from .judge import load_runs as load_runs
from .protocols import judge_protocols as judge_protocols
from .protocols import judge_steady_config as judge_steady_config
from .protocols import publish_steady_plan as publish_steady_plan
from .questions import answer_questions as answer_questions
from .questions import judge_suite as judge_suite
from .questions import make_suite_rule as make_suite_rule
from .suites.assessment import assess_suite as assess_suite
from .suites.suite_runs import SuiteRuns as SuiteRuns
from .suites.suite_verdict import SuiteRule as SuiteRule

__all__ = [
    "FOR_SUITES",
    "LoggedRuns",
    "SuiteRule",
    "SuiteRuns",
    "VerdictConfig",
    "answer_questions",
    "assess_suite",
    "check_verdict",
    "find_worst",
    "judge_config",
    "judge_groups",
    "judge_log",
    "judge_protocols",
    "judge_steady_config",
    "judge_suite",
    "load_runs",
    "make_suite_rule",
    "publish_steady_plan",
    "quote_argument",
]
