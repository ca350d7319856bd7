from .adapters.commit import find_commit as find_commit
from .adapters.committee import Committee as Committee
from .adapters.committee import find_program as find_program
from .adapters.committee import name_program as name_program
from .adapters.committee import wrap_program as wrap_program
from .adapters.program import Program as Program
from .adapters.program import ProgramFailed as ProgramFailed
from .clerk import CLERK_KIND as CLERK_KIND
from .clerk import READINGS as READINGS
from .clerk import ask_clerk as ask_clerk
from .clerk import make_reading as make_reading
from .client_modules import provide_client as provide_client
from .compose import OWN_MODELS as OWN_MODELS
from .compose import Audit as Audit
from .compose import compose_audit as compose_audit
from .condition import ProgramCondition as ProgramCondition
from .condition import format_settings as format_settings
from .condition import require_program as require_program
from .journal_replay import count_restarts as count_restarts
from .journal_replay import set_aside as set_aside
from .one_shot import OneShot as OneShot
from .one_shot import list_seats as list_seats
from .proxy import Proxy as Proxy
from .session import Session as Session

__all__ = [
    "CLERK_KIND",
    "OWN_MODELS",
    "READINGS",
    "Audit",
    "Committee",
    "OneShot",
    "Program",
    "ProgramCondition",
    "ProgramFailed",
    "Proxy",
    "Session",
    "ask_clerk",
    "compose_audit",
    "count_restarts",
    "find_commit",
    "find_program",
    "format_settings",
    "list_seats",
    "make_reading",
    "name_program",
    "provide_client",
    "require_program",
    "set_aside",
    "wrap_program",
]
