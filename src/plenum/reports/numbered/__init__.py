"""The papers' tables by number, each with the published values beside a run's own."""

from plenum.reports.numbered.catalogue import CATALOGUE
from plenum.reports.numbered.publishing import publish

__all__ = ["CATALOGUE", "publish"]
