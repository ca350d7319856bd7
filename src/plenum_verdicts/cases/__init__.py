"""Cases of a program under audit, data sets of them, and how decisions are read."""
