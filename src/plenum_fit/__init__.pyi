from .plans import publish_fitted_plan as publish_fitted_plan
from .publish import publish_fit as publish_fit

__all__ = [
    "publish_fit",
    "publish_fitted_plan",
]
