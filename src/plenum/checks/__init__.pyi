from .dry_run import show_dry_run as show_dry_run
from .probe import ProbeSettings as ProbeSettings
from .probe import Repeats as Repeats
from .probe import make_probe_jobs as make_probe_jobs
from .probe import read_probe_settings as read_probe_settings
from .probe import run_probe as run_probe
from .probe_report import publish_probe as publish_probe

__all__ = [
    "ProbeSettings",
    "Repeats",
    "make_probe_jobs",
    "publish_probe",
    "read_probe_settings",
    "run_probe",
    "show_dry_run",
]
