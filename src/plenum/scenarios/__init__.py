"""The policy cases, and their other wordings and layouts."""
