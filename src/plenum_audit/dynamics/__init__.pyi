from .parting_calls import LEAST_REPEATS as LEAST_REPEATS
from .parting_calls import LEAST_TOKENS as LEAST_TOKENS
from .parting_calls import compare_calls as compare_calls
from .parting_calls import describe_kept_results as describe_kept_results
from .parting_calls import find_cache as find_cache
from .parting_calls import find_cache_without_calls as find_cache_without_calls
from .parting_calls import find_change as find_change

__all__ = [
    "LEAST_REPEATS",
    "LEAST_TOKENS",
    "compare_calls",
    "describe_kept_results",
    "find_cache",
    "find_cache_without_calls",
    "find_change",
]
