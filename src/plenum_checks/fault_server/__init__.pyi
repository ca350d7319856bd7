from .server_runner import RunningServer as RunningServer
from .server_runner import serve as serve
from .server_runner import serve_in_thread as serve_in_thread
from .settings import KINDS as KINDS
from .settings import BatchFaults as BatchFaults
from .settings import Faults as Faults
from .settings import FaultSettings as FaultSettings
from .settings import Latency as Latency
from .settings import Limits as Limits
from .settings import check_fault_settings as check_fault_settings

__all__ = [
    "KINDS",
    "BatchFaults",
    "FaultSettings",
    "Faults",
    "Latency",
    "Limits",
    "RunningServer",
    "check_fault_settings",
    "serve",
    "serve_in_thread",
]
