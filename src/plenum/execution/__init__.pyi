from . import prompt as prompt
from .admission import Admission as Admission
from .admission import Ticket as Ticket
from .budget import BudgetSpent as BudgetSpent
from .budget import Call as Call
from .budget import Demand as Demand
from .budget import Ledger as Ledger
from .budget import PriceOf as PriceOf
from .budget import answers_usage as answers_usage
from .budget import demand_of as demand_of
from .budget import failure_usage as failure_usage
from .budget import failures_usage as failures_usage
from .budget import spent_before as spent_before
from .caller import Caller as Caller
from .caller import bug_in_words as bug_in_words
from .condition_folder import begun_replicates as begun_replicates
from .condition_folder import folder_of as folder_of
from .condition_folder import journal_of as journal_of
from .condition_folder import looks_ended as looks_ended
from .condition_folder import take_up as take_up
from .condition_folder import with_all_begun as with_all_begun
from .cost_estimate import longest_prompts as longest_prompts
from .cost_estimate import replicate_usage as replicate_usage
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
from .outcomes import ReplicateResult as ReplicateResult
from .outcomes import collect_outcomes as collect_outcomes
from .outcomes import list_problems as list_problems
from .outcomes import write_closing as write_closing
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
from .retriable import may_resume as may_resume
from .summarise import SETTINGS as SETTINGS
from .summarise import no_estimates as no_estimates
from .summarise import report_condition as report_condition
from .summarise_committee import committee_notes as committee_notes
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
    "Playable",
    "PriceOf",
    "ProviderUnavailable",
    "ReplicateResult",
    "ReportPool",
    "Scene",
    "Ticket",
    "answers_usage",
    "begun_replicates",
    "bug_in_words",
    "cancel_on_sigterm",
    "check_model",
    "check_sweep",
    "choose_executor",
    "classify_error",
    "collect_outcomes",
    "committee_notes",
    "count_usage",
    "demand_of",
    "describe_new_factors",
    "failure_usage",
    "failures_usage",
    "folder_of",
    "journal_of",
    "launch_jobs",
    "list_problems",
    "longest_prompts",
    "looks_ended",
    "may_resume",
    "no_estimates",
    "open_conversation",
    "prompt",
    "raise_file_limit",
    "replicate_usage",
    "report_condition",
    "require_jobs",
    "require_one_kind_a_study",
    "require_shared_settings",
    "run_job",
    "run_sweep",
    "run_together",
    "run_until_stopped",
    "spent_before",
    "take_up",
    "with_all_begun",
    "write_closing",
]
