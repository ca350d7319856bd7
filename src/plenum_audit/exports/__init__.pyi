from .all_exports import export_audit as export_audit
from .statement import list_subjects as list_subjects
from .statement import remove_stale_statement as remove_stale_statement

__all__ = ["export_audit", "list_subjects", "remove_stale_statement"]
