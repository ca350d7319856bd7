"""The progress of a study, while a sweep writes it and afterwards."""
