"""The accounts of a study: replicates, calls, failures, files (Tables S1 to S3)."""
