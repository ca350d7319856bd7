"""TODO src/plenum_audit"""
