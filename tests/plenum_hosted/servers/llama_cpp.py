"""Serve a GGUF file by llama.cpp's own server; the environment that runs this has xllamacpp.

Call: python llama_cpp.py FILE. The first line printed is the server's address.
"""

import signal
import sys

import xllamacpp

settings = xllamacpp.CommonParams()
settings.model.path = sys.argv[1]
settings.port = 0
settings.n_ctx = 4096
settings.n_parallel = 1
settings.n_gpu_layers = 0
settings.cpuparams.n_threads = 1
server = xllamacpp.Server(settings)
print(server.listening_address, flush=True)
signal.pause()
