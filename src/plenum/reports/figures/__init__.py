"""The figures of a study: a catalogue of drawings, each of which knows what it can be drawn of."""

from plenum.reports.figures.catalogue import CATALOGUE, Drawing
from plenum.reports.figures.publish import draw, publish, wanted

__all__ = ["CATALOGUE", "Drawing", "draw", "publish", "wanted"]
