"""Bulk writing of studies: runs into a database, replicates as rows, PostgreSQL."""
