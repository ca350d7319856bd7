"""The world misinformation: state machine, prompt texts and metrics."""
