"""Tracking: MLflow in, MLflow out. Nothing is imported here, since MLflow takes seconds."""
