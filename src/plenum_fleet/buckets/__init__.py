"""Journals and files in buckets of S3, addressed as ``s3://bucket/prefix``."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
