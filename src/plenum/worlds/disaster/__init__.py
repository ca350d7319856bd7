"""The world disaster: state machine, prompt texts and metrics."""
