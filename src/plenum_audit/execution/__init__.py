"""TODO src/plenum_audit/execution"""
