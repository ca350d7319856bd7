"""The page, tables and files of a verdict: one writer each."""
