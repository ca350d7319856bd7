"""A toy backend: a parrot that fills in the forms which a committee's prompts show.

It is a package of its own, as an outside one is: ``pyproject.toml`` names the backend and the
folder of its configs as entry points, and the code imports
plenum from where version 0.2 had its names, so that one line warns of it.
"""

from parrot.birds import Parrot
from parrot.settings import ParrotSettings
from plenum.design import BackendExtension

BACKEND = BackendExtension(
    settings=ParrotSettings,
    build=lambda settings, *_: Parrot(settings),
    costs="a parrot costs nothing",
    expect_times=lambda *_: ["time: unknown"],  # which version 0.2 printed
)
