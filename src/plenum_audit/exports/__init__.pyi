from .all_exports import export_audit as export_audit
from .all_exports import export_suite as export_suite
from .statement import list_subjects as list_subjects
from .statement import remove_stale_statement as remove_stale_statement

__all__ = ["export_audit", "export_suite", "list_subjects", "remove_stale_statement"]
