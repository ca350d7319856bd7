from .reports.notebook import study, sweep

__version__: str
__all__ = ["study", "sweep"]
