"""The address of a study's live page, which a sweep offers and `scripts/explore.py` serves."""

import fcntl
import json
import os
import secrets
import select
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from plenum.base.secrets import strip_secrets
from plenum.tracking.tracker import lock_file

SERVER = "plenum.reports.explorer.serve"
"""The module whose main function serves a page on a socket that it inherits."""


@dataclass(frozen=True)
class PageAddress:
    """The address of a study's page.

    Attributes
    ----------
    port, token
        Of its link.
    listening
        The socket on loopback; ``None`` if another process has it.
    held
        The file of the address, locked for as long as somebody listens there.
    """

    port: int
    token: str
    listening: socket.socket | None = None
    held: TextIO | None = None

    @property
    def link(self) -> str:
        """The link, by which whoever knows it reads the study."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"


def take_address(journals: Path, uri: str, study: str) -> PageAddress:
    """Listen where the page of a study is, unless somebody does.

    Port and token are kept in a file that only the user can read, so that a link stays the same.
    ``uri`` is absolute.
    """
    file = lock_file(journals, uri, study).with_suffix(".page")
    file.parent.mkdir(parents=True, exist_ok=True)
    held = os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
    taken = False
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        taken = True
    # Below the ports that systems lend at random, so that the link stays free between two sweeps.
    port, token = 20_000 + secrets.randbelow(12_000), ""
    # A new file is empty, and a kill may leave one half written.
    with suppress(ValueError, TypeError, KeyError):
        known = json.loads(held.read())
        port, token = int(known["port"]) % 65_536, str(known["token"])
    if taken:
        held.close()
        return PageAddress(port, token)
    listening = socket.socket()
    # Else the port would be refused for a minute after its server has ended.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError:  # another program has the port now
        listening.bind(("127.0.0.1", 0))
    listening.listen(16)
    address = PageAddress(
        listening.getsockname()[1], token or secrets.token_urlsafe(16), listening, held
    )
    # Written in place: a file that takes its name would not have the lock.
    held.seek(0)
    held.truncate()
    held.write(json.dumps({"port": address.port, "token": address.token}))
    held.flush()
    return address


def offer_page(journals: Path, uri: str, study: str) -> str:
    """Offer the page of a study while a sweep writes it: the first visitor starts its server.

    So a sweep that nobody watches has no process more, and the server outlives the sweep.

    Returns
    -------
    str
        The link.
    """
    address = take_address(journals, uri, study)
    if address.listening is not None:
        chosen = {"study": study, "uri": uri, "journals": str(journals)}
        threading.Thread(target=_await_visitor, args=(address, chosen), daemon=True).start()
    return address.link


def _await_visitor(address: PageAddress, chosen: dict[str, str]) -> None:
    """Wait until somebody connects, and hand socket and lock to a server of its own."""
    assert address.listening is not None
    assert address.held is not None
    # Without accepting: the visitor's connection waits in the socket for the server.
    select.select([address.listening], [], [])
    numbers = address.listening.fileno(), address.held.fileno()
    with address.listening, address.held:  # the server has its own copies from now on
        subprocess.Popen(
            [sys.executable, "-P", "-m", SERVER, json.dumps({**chosen, "inherited": numbers})],
            pass_fds=numbers,
            start_new_session=True,  # Ctrl-C ends the sweep, not the page
            env=strip_secrets(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
