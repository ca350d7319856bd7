"""MLflow as the store of studies: writing and reading.

Nothing is imported here, since MLflow takes seconds.
"""
