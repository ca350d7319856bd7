"""Which replicates to show where not all can be: those that lie farthest apart."""

import numpy as np
from numpy.typing import NDArray


def farthest(paths: NDArray[np.float64], most: int) -> list[int]:
    """Choose trajectories by farthest-point sampling.

    The first two are the pair that is farthest apart; each further one is the farthest from all
    that are chosen. The distance of two trajectories is the root mean square over rounds of their
    distance on the simplex.

    Parameters
    ----------
    paths
        Committee mean preferences, shape (replicates, rounds, options).
    most
        How many to choose.

    Returns
    -------
    list
        Their positions, in order.
    """
    count = len(paths)
    if count <= most:
        return list(range(count))
    flat = paths.reshape(count, -1)
    squares = (flat**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * flat @ flat.T
    first, second = np.unravel_index(int(distances.argmax()), distances.shape)
    chosen = [int(first), int(second)]
    nearest = np.minimum(distances[first], distances[second])
    while len(chosen) < most:
        nearest[chosen] = -np.inf
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, distances[chosen[-1]])
    return sorted(chosen)
