"""TODO src/plenum_checks/wordings"""
