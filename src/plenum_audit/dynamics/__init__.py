"""TODO src/plenum_audit/dynamics"""
