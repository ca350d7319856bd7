"""The limit of open files."""

import resource

_RESERVED = 256
"""Open files besides those of replicates in flight. The number is plenum's own: libraries, pipes of
child processes and the terminal take a few dozen."""


def raise_file_limit() -> int:
    """Raise the limit as far as the system allows.

    Returns
    -------
    int
        How many replicates can be in flight: each holds its journal and a connection open, and
        may be alone in holding its condition's lock and call log.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Where the system sets no limit a finite number all the same: slots follow from it, 16,320
    # here.
    wanted = 65536 if hard == resource.RLIM_INFINITY else hard
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    # Four files each: journal, connection, lock and call log.
    return max(1, (wanted - _RESERVED) // 4)
