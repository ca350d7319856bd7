"""Journals and files in buckets of S3, addressed as ``s3://bucket/prefix``."""
