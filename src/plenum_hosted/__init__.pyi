from . import checkpoints as checkpoints
from . import reruns as reruns
from .backend import HostedBackend as HostedBackend
from .settings import Hosted as Hosted

__all__ = [
    "Hosted",
    "HostedBackend",
    "checkpoints",
    "reruns",
]
