"""Stands for the Python interpreter: passes its arguments and streams to the fork server."""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[1])
    request = {"arguments": sys.argv[2:], "cwd": os.getcwd(), "environment": dict(os.environ)}
    data = json.dumps(request).encode()
    socket.send_fds(server, [len(data).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(data)
    for number in (0, 1, 2):
        os.close(number)
    status = int(server.recv(16) or b"1")
sys.exit(status if status >= 0 else 128 - status)
