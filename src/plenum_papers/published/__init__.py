"""Import and check of the runs that the papers' authors published in their repository."""
