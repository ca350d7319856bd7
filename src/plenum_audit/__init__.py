"""Audits of programs: runs, verdicts with error control, and their pages.

``plenum_audit.audit(committee, case)`` is an audit from Python; ``assert_stable`` is one in a test.
"""

import lazy_loader

# The stub beside this file lists the names; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
