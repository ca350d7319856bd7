"""The hosted backend as an extension of plenum, which finds it by an entry point."""

from plenum.base import UserError
from plenum.design import Host, Hosted
from plenum.models import ChatModel
from plenum_hosted.checkpoints import digests


def build(settings: Hosted) -> ChatModel:
    """Build the backend; only this function imports torch, transformers and llguidance.

    Raises
    ------
    UserError
        One of them isn't installed.
    """
    try:
        import llguidance  # noqa: F401
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise UserError(
            f"backend: hosted needs {error.name}; "
            "install it with sh scripts/install.sh .venv/bin/python hosted"
        ) from None
    from plenum_hosted.backend import HostedBackend

    return HostedBackend(settings)


HOST = Host(build, digests)
