from .notebook import audit
from .testing.stability import assert_stable

__all__ = ["assert_stable", "audit"]
