from .repeats import RepeatedPrediction as RepeatedPrediction
from .repeats import repeat as repeat
from .verdicts import write_verdicts as write_verdicts

__all__ = ["RepeatedPrediction", "repeat", "write_verdicts"]
