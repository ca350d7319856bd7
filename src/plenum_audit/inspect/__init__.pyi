from .stopping import StopWhenDecided as StopWhenDecided

__all__ = ["StopWhenDecided"]
