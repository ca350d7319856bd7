"""TODO src/plenum_audit/tracking"""
