"""The figures of a study: a catalogue of drawings, each with the data that it needs."""

from plenum.reports.figures.catalogue import CATALOGUE, Drawing
from plenum.reports.figures.publish import draw_figures, publish

__all__ = ["CATALOGUE", "Drawing", "draw_figures", "publish"]
