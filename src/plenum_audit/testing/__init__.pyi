from .stability import assert_stable as assert_stable

__all__ = ["assert_stable"]
