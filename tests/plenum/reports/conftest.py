"""What tests of reports share."""

from collections.abc import Iterator

import pytest


@pytest.fixture
def shared_style() -> Iterator[None]:
    """Figures have the shared style, and don't pile up."""
    from matplotlib import pyplot as plt

    from plenum.reports.style import styled

    with styled():
        yield
    plt.close("all")
