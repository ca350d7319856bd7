from . import checkpoints as checkpoints
from . import reruns as reruns
from .backend import HostedBackend as HostedBackend

__all__ = [
    "HostedBackend",
    "checkpoints",
    "reruns",
]
