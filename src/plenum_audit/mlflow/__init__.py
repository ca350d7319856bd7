"""Repeats for ``mlflow.genai.evaluate``, and verdicts on them in MLflow.

``repeat(predict_fn, k).evaluate(data, scorers)`` evaluates every case ``k`` times;
``write_verdicts(result)`` judges them together.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
