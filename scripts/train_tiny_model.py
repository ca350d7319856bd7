"""Say that this script is gone: version 0.2.0 was the last to have it."""

try:
    from plenum.base.removed import refuse_removed
    from plenum.cli import one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None

if __name__ == "__main__":
    with one_line_errors():
        refuse_removed(["scripts/train_tiny_model.py"])
