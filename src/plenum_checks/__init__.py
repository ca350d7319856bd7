"""TODO src/plenum_checks"""
