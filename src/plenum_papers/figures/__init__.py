"""TODO src/plenum_papers/figures"""
