"""Reports: tables and figures from what is tracked. Nothing is imported here: MLflow is slow."""
