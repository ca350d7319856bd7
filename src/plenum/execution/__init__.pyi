from . import prompt as prompt
from .admission import Admission as Admission
from .admission import Ticket as Ticket
from .budget import BudgetSpent as BudgetSpent
from .budget import Call as Call
from .budget import Demand as Demand
from .budget import Ledger as Ledger
from .budget import PriceOf as PriceOf
from .budget import bound_failure as bound_failure
from .budget import bound_failures as bound_failures
from .budget import compute_demand as compute_demand
from .budget import sum_answers as sum_answers
from .caller import Caller as Caller
from .caller import describe_bug as describe_bug
from .condition_folder import add_begun as add_begun
from .condition_folder import find_condition_folder as find_condition_folder
from .condition_folder import find_journal as find_journal
from .condition_folder import list_begun as list_begun
from .condition_folder import looks_ended as looks_ended
from .cost_estimate import estimate_usage as estimate_usage
from .cost_estimate import make_longest_prompts as make_longest_prompts
from .executors import Deliberations as Deliberations
from .executors import Executor as Executor
from .executors import ExecutorChoice as ExecutorChoice
from .executors import Playable as Playable
from .executors import Scene as Scene
from .executors import choose_executor as choose_executor
from .hydra_jobs import launch_jobs as launch_jobs
from .hydra_jobs import run_job as run_job
from .limits.limiter import ProviderUnavailable as ProviderUnavailable
from .open_files import raise_file_limit as raise_file_limit
from .outcomes import LISTED as LISTED
from .outcomes import Outcome as Outcome
from .outcomes import ReplicateResult as ReplicateResult
from .outcomes import collect_outcomes as collect_outcomes
from .outcomes import format_closing as format_closing
from .outcomes import list_problems as list_problems
from .preflight import check_model as check_model
from .preflight import check_sweep as check_sweep
from .preflight import describe_new_factors as describe_new_factors
from .preflight import require_jobs as require_jobs
from .preflight import require_one_kind_a_study as require_one_kind_a_study
from .preflight import require_shared_settings as require_shared_settings
from .questions import cancel_on_sigterm as cancel_on_sigterm
from .questions import classify_error as classify_error
from .questions import run_together as run_together
from .questions import run_until_stopped as run_until_stopped
from .replay import open_conversation as open_conversation
from .report_pool import ReportPool as ReportPool
from .resumption import may_resume as may_resume
from .spending import sum_spent_before as sum_spent_before
from .summarise import SETTINGS as SETTINGS
from .summarise import report_condition as report_condition
from .summarise import report_nothing as report_nothing
from .summarise_committee import report_committee as report_committee
from .sweep import run_sweep as run_sweep
from .usage import count_usage as count_usage

__all__ = [
    "LISTED",
    "SETTINGS",
    "Admission",
    "BudgetSpent",
    "Call",
    "Caller",
    "Deliberations",
    "Demand",
    "Executor",
    "ExecutorChoice",
    "Ledger",
    "Outcome",
    "Playable",
    "PriceOf",
    "ProviderUnavailable",
    "ReplicateResult",
    "ReportPool",
    "Scene",
    "Ticket",
    "add_begun",
    "bound_failure",
    "bound_failures",
    "cancel_on_sigterm",
    "check_model",
    "check_sweep",
    "choose_executor",
    "classify_error",
    "collect_outcomes",
    "compute_demand",
    "count_usage",
    "describe_bug",
    "describe_new_factors",
    "estimate_usage",
    "find_condition_folder",
    "find_journal",
    "format_closing",
    "launch_jobs",
    "list_begun",
    "list_problems",
    "looks_ended",
    "make_longest_prompts",
    "may_resume",
    "open_conversation",
    "prompt",
    "raise_file_limit",
    "report_committee",
    "report_condition",
    "report_nothing",
    "require_jobs",
    "require_one_kind_a_study",
    "require_shared_settings",
    "run_job",
    "run_sweep",
    "run_together",
    "run_until_stopped",
    "sum_answers",
    "sum_spent_before",
]
