from .atomic_files import append_bytes as append_bytes
from .atomic_files import encode_json as encode_json
from .atomic_files import write_whole as write_whole
from .calls import CallLog as CallLog
from .calls import find_call_logs as find_call_logs
from .calls import read_attempts as read_attempts
from .chain import DamagedJournal as DamagedJournal
from .chain import read_entries as read_entries
from .chain import verify_lines as verify_lines
from .episodes import MEASURES as MEASURES
from .episodes import convert_null as convert_null
from .episodes import count_components as count_components
from .episodes import list_played_rounds as list_played_rounds
from .episodes import list_weights as list_weights
from .episodes import read_metrics as read_metrics
from .episodes import read_series as read_series
from .episodes import rebuild_ensembles as rebuild_ensembles
from .failed_calls import FailedCall as FailedCall
from .failed_calls import find_failed_call as find_failed_call
from .failed_calls import group_failures as group_failures
from .failed_calls import select_example as select_example
from .failures import Failure as Failure
from .journal import MESSAGES as MESSAGES
from .journal import NO_ANSWERS as NO_ANSWERS
from .journal import REFUSED as REFUSED
from .journal import TRIAL as TRIAL
from .journal import Journal as Journal
from .journal import drop_revoked as drop_revoked
from .memo import recall as recall
from .memo import remember as remember
from .said_facts import share_said as share_said
from .transcript import SIMULATED as SIMULATED
from .transcript import WHO as WHO
from .transcript import Transcript as Transcript
from .transcript import Turn as Turn
from .transcript import collect_environments as collect_environments
from .transcript import list_answerers as list_answerers
from .transcript import read as read
from .usage import Usage as Usage

__all__ = [
    "MEASURES",
    "MESSAGES",
    "NO_ANSWERS",
    "REFUSED",
    "SIMULATED",
    "TRIAL",
    "WHO",
    "CallLog",
    "DamagedJournal",
    "FailedCall",
    "Failure",
    "Journal",
    "Transcript",
    "Turn",
    "Usage",
    "append_bytes",
    "collect_environments",
    "convert_null",
    "count_components",
    "drop_revoked",
    "encode_json",
    "find_call_logs",
    "find_failed_call",
    "group_failures",
    "list_answerers",
    "list_played_rounds",
    "list_weights",
    "read",
    "read_attempts",
    "read_entries",
    "read_metrics",
    "read_series",
    "rebuild_ensembles",
    "recall",
    "remember",
    "select_example",
    "share_said",
    "verify_lines",
    "write_whole",
]
