"""TODO src/plenum_audit/testing"""
