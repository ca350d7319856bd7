"""The world public_goods: state machine, prompt texts and metrics."""
