from .early_stopping import StopWhenDecided as StopWhenDecided

__all__ = ["StopWhenDecided"]
