"""The limit of open files."""

import resource

_RESERVED = 256
"""Open files besides those of replicates in flight."""


def raise_file_limit() -> int:
    """Raise the limit as far as the system allows.

    Returns
    -------
    int
        How many replicates can be in flight: each holds its journal and a connection open, and
        may be alone in holding its condition's lock and call log.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else hard
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(1, (wanted - _RESERVED) // 4)
