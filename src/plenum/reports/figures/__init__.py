"""The figures of a study: a catalogue of drawings, each with the data that it needs."""

from plenum.reports.figures.catalogue import CATALOGUE, Drawing, SavedFigure
from plenum.reports.figures.publish import draw_figures, publish
from plenum.show.style import read_caption

__all__ = ["CATALOGUE", "Drawing", "SavedFigure", "draw_figures", "publish", "read_caption"]
