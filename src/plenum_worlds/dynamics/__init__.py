"""TODO src/plenum_worlds/dynamics"""
