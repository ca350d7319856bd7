"""Serve until the process is ended; the docstring of the package says how it is started."""

import sys

from omegaconf import OmegaConf

from plenum.design.validation import make_plain, validate
from support.fault_server.server_runner import serve
from support.fault_server.settings import FaultSettings

serve(validate(FaultSettings, make_plain(OmegaConf.from_dotlist(sys.argv[1:]))))
