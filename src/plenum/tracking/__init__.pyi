from .artifacts import collect_artifacts as collect_artifacts
from .conditions import Outline as Outline
from .conditions import TrackedCondition as TrackedCondition
from .conditions import is_simulated as is_simulated
from .conditions import read_rerun as read_rerun
from .conditions import tabulate_replicates as tabulate_replicates
from .experiments import find_experiment as find_experiment
from .experiments import make_trash_error as make_trash_error
from .metric_names import decode_metric as decode_metric
from .provenance import Provenance as Provenance
from .provenance import rebuild_condition as rebuild_condition
from .report_run import log_report as log_report
from .row_writer import pack_transcripts as pack_transcripts
from .row_writer import write_rows as write_rows
from .rows import ROWS_ARCHIVE as ROWS_ARCHIVE
from .rows import ROWS_FILE as ROWS_FILE
from .rows import ROWS_TAG as ROWS_TAG
from .rows import Member as Member
from .rows import has_nested_runs as has_nested_runs
from .rows import make_row as make_row
from .rows import transcript_file as transcript_file
from .run_data import collect_by_round as collect_by_round
from .run_writer import make_params as make_params
from .runs import CONDITIONS as CONDITIONS
from .runs import open_existing as open_existing
from .runs import open_study as open_study
from .runs import read_artifacts as read_artifacts
from .runs import read_kind_tag as read_kind_tag
from .runs import read_rows as read_rows
from .runs import search_runs as search_runs
from .states import describe_replicate as describe_replicate
from .states import holds_condition as holds_condition
from .store import absolute_uri as absolute_uri
from .store import open_client as open_client
from .store import require_writable_store as require_writable_store
from .stored_runs import KIND_TAG as KIND_TAG
from .stored_runs import StoredRun as StoredRun
from .stored_runs import fingerprint as fingerprint
from .stored_runs import list_stored_conditions as list_stored_conditions
from .stored_runs import require_active as require_active
from .stored_runs import require_kind as require_kind
from .studies import StoredStudy as StoredStudy
from .studies import delete_study as delete_study
from .studies import drop_condition as drop_condition
from .studies import find_studies_by_folder as find_studies_by_folder
from .studies import hold_journals as hold_journals
from .studies import journals_size as journals_size
from .studies import list_studies as list_studies
from .studies import remove_journals as remove_journals
from .studies import rename_study as rename_study
from .studies import restore_study as restore_study
from .study import MANY as MANY
from .study import Study as Study
from .study import exists as exists
from .traces import TRACE_TAG as TRACE_TAG
from .traces import TracedCall as TracedCall
from .tracker import Method as Method
from .tracker import Tracker as Tracker
from .tracker import lock_file as lock_file
from .transcript_text import format_transcript as format_transcript
from .transcripts import StoredTranscript as StoredTranscript
from .usage import REASONS as REASONS
from .usage import ConditionUsage as ConditionUsage
from .views import source_tags as source_tags
from .writer import StudyWriter as StudyWriter

__all__ = [
    "CONDITIONS",
    "KIND_TAG",
    "MANY",
    "REASONS",
    "ROWS_ARCHIVE",
    "ROWS_FILE",
    "ROWS_TAG",
    "TRACE_TAG",
    "ConditionUsage",
    "Member",
    "Method",
    "Outline",
    "Provenance",
    "StoredRun",
    "StoredStudy",
    "StoredTranscript",
    "Study",
    "StudyWriter",
    "TracedCall",
    "TrackedCondition",
    "Tracker",
    "absolute_uri",
    "collect_artifacts",
    "collect_by_round",
    "decode_metric",
    "delete_study",
    "describe_replicate",
    "drop_condition",
    "exists",
    "find_experiment",
    "find_studies_by_folder",
    "fingerprint",
    "format_transcript",
    "has_nested_runs",
    "hold_journals",
    "holds_condition",
    "is_simulated",
    "journals_size",
    "list_stored_conditions",
    "list_studies",
    "lock_file",
    "log_report",
    "make_params",
    "make_row",
    "make_trash_error",
    "open_client",
    "open_existing",
    "open_study",
    "pack_transcripts",
    "read_artifacts",
    "read_kind_tag",
    "read_rerun",
    "read_rows",
    "rebuild_condition",
    "remove_journals",
    "rename_study",
    "require_active",
    "require_kind",
    "require_writable_store",
    "restore_study",
    "search_runs",
    "source_tags",
    "tabulate_replicates",
    "transcript_file",
    "write_rows",
]
