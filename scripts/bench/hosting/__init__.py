"""Parts of the benchmark of hosted models, which `hosted.py` calls."""
