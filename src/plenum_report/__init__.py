"""Reports of studies in prose, in the form of a paper's results section, as HTML and Markdown."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
