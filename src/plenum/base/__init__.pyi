from .collector import collect_rarely as collect_rarely
from .collector import pause_collector as pause_collector
from .environment import close_environment as close_environment
from .environment import hide_environment as hide_environment
from .errors import Stopped as Stopped
from .errors import UserError as UserError
from .exits import BAD_INPUT as BAD_INPUT
from .exits import FAILED as FAILED
from .exits import INTERRUPTED as INTERRUPTED
from .exits import NO_VERDICT as NO_VERDICT
from .exits import find_status as find_status
from .exits import format_error as format_error
from .exits import name_missing_package as name_missing_package
from .exits import shows_full_errors as shows_full_errors
from .extensions import Registry as Registry
from .extensions import blame_part as blame_part
from .file_locks import hold_lock as hold_lock
from .file_locks import is_locked as is_locked
from .file_locks import require_writable as require_writable
from .identity import canonical_json as canonical_json
from .identity import derive_seed as derive_seed
from .identity import digest as digest
from .identity import make_generator as make_generator
from .identity import name_folder as name_folder
from .json_reply import read_object as read_object
from .json_reply import refuse_repeats as refuse_repeats
from .json_reply import strip_fence as strip_fence
from .processes import ONE_THREAD as ONE_THREAD
from .processes import LineProcess as LineProcess
from .processes import ProcessEnded as ProcessEnded
from .processes import answer_parent as answer_parent
from .processes import map_in_processes as map_in_processes
from .processes import name_other_work as name_other_work
from .processes import prepare_child as prepare_child
from .progress import show_progress as show_progress
from .project import USER_FOLDER as USER_FOLDER
from .project import absent_packages as absent_packages
from .project import candidate_paths as candidate_paths
from .project import code_digest as code_digest
from .project import code_version as code_version
from .project import config_folders as config_folders
from .project import describe_commit as describe_commit
from .project import project_root as project_root
from .project import resolve_path as resolve_path
from .project import user_folder as user_folder
from .reasoning import split_reasoning as split_reasoning
from .reasoning import strip_reasoning as strip_reasoning
from .regular_files import open_regular_file as open_regular_file
from .regular_files import read_bytes as read_bytes
from .regular_files import read_text as read_text
from .regular_files import require_regular_file as require_regular_file
from .removed import refuse_removed as refuse_removed
from .secret_input import refuse_for_program as refuse_for_program
from .secret_input import refuse_in_arguments as refuse_in_arguments
from .secret_input import refuse_in_url as refuse_in_url
from .secret_input import refuse_keys as refuse_keys
from .secrets import holds_secret as holds_secret
from .secrets import is_secret_name as is_secret_name
from .secrets import list_secrets as list_secrets
from .secrets import redact as redact
from .secrets import redact_data as redact_data
from .secrets import secret_variables as secret_variables
from .secrets import strip_secrets as strip_secrets
from .shares import format_number_between as format_number_between
from .shares import format_percent_between as format_percent_between
from .shares import format_signed_percent as format_signed_percent
from .shares import keep_finite as keep_finite
from .shares import percent as percent
from .terminal import make_safe as make_safe
from .terminal import say as say
from .text import HIDDEN as HIDDEN
from .text import blank_invisible as blank_invisible
from .text import flatten as flatten
from .text import format_duration as format_duration
from .text import join_first as join_first
from .text import make_printable as make_printable
from .text import replace_surrogates as replace_surrogates
from .text import split_lines as split_lines
from .text import unmask as unmask
from .text import visible_text as visible_text
from .yaml_files import parse_yaml as parse_yaml
from .yaml_files import read_yaml as read_yaml
from .zips import unpack_problem as unpack_problem

__all__ = [
    "BAD_INPUT",
    "FAILED",
    "HIDDEN",
    "INTERRUPTED",
    "NO_VERDICT",
    "ONE_THREAD",
    "USER_FOLDER",
    "LineProcess",
    "ProcessEnded",
    "Registry",
    "Stopped",
    "UserError",
    "absent_packages",
    "answer_parent",
    "blame_part",
    "blank_invisible",
    "candidate_paths",
    "canonical_json",
    "close_environment",
    "code_digest",
    "code_version",
    "collect_rarely",
    "config_folders",
    "derive_seed",
    "describe_commit",
    "digest",
    "find_status",
    "flatten",
    "format_duration",
    "format_error",
    "format_number_between",
    "format_percent_between",
    "format_signed_percent",
    "hide_environment",
    "hold_lock",
    "holds_secret",
    "is_locked",
    "is_secret_name",
    "join_first",
    "keep_finite",
    "list_secrets",
    "make_generator",
    "make_printable",
    "make_safe",
    "map_in_processes",
    "name_folder",
    "name_missing_package",
    "name_other_work",
    "open_regular_file",
    "parse_yaml",
    "pause_collector",
    "percent",
    "prepare_child",
    "project_root",
    "read_bytes",
    "read_object",
    "read_text",
    "read_yaml",
    "redact",
    "redact_data",
    "refuse_for_program",
    "refuse_in_arguments",
    "refuse_in_url",
    "refuse_keys",
    "refuse_removed",
    "refuse_repeats",
    "replace_surrogates",
    "require_regular_file",
    "require_writable",
    "resolve_path",
    "say",
    "secret_variables",
    "show_progress",
    "shows_full_errors",
    "split_lines",
    "split_reasoning",
    "strip_fence",
    "strip_reasoning",
    "strip_secrets",
    "unmask",
    "unpack_problem",
    "user_folder",
    "visible_text",
]
