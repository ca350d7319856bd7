from .published import published_numbers as published_numbers

__all__ = ["published_numbers"]
