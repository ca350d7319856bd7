"""Audits of programs: runs until a verdict with error control, and their reports.

``plenum_audit.audit(committee, case)`` is an audit from Python; ``assert_stable`` is one in a test.
"""

import lazy_loader

# The stub next to this file lists the names; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
