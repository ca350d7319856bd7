from .statement import list_subjects as list_subjects
from .statement import remove_stale_statement as remove_stale_statement
from .statement import write_statement as write_statement

__all__ = ["list_subjects", "remove_stale_statement", "write_statement"]
