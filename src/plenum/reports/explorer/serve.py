"""The server of a live page: on loopback, for whoever has its link."""

import hmac
import json
import os
import socket
import sys
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from plenum.base.errors import UserError
from plenum.reports.explorer.live import LiveStudy, Outdated
from plenum.reports.explorer.page import page
from plenum.reports.settings import Settings
from plenum.tracking.live_page import PageAddress, take_address
from plenum.tracking.store import absolute_uri

_IDLE_S = 900.0
"""Seconds without a request after which a server that a sweep started ends. The number is plenum's
own: an open page asks every few seconds."""


class PageServer(ThreadingHTTPServer):
    """The server of one study's page.

    Parameters
    ----------
    address
        Its socket and its token.
    study
        What it shows.
    """

    daemon_threads = True

    def __init__(self, address: PageAddress, study: LiveStudy) -> None:
        assert address.listening is not None
        # The socket is bound already, by the sweep or by the lock's holder.
        super().__init__(("127.0.0.1", address.port), _Handler, bind_and_activate=False)
        self.socket.close()  # the one that it made itself
        self.socket = address.listening
        self.token, self.study = address.token, study
        self.asked = time.monotonic()

    def end_when_idle(self) -> None:
        """End once nobody has asked for a while."""
        while time.monotonic() - self.asked < _IDLE_S:
            time.sleep(_IDLE_S / 30)
        self.shutdown()


class _Handler(BaseHTTPRequestHandler):
    """Answers ``GET /TOKEN/`` with the page, and ``GET /TOKEN/data/BLOCK`` with its data."""

    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version = "plenum"
    timeout = 60

    def do_GET(self) -> None:
        """Answer a request, if it has the token and was meant for this machine's loopback."""
        asked = urlsplit(self.path)
        token, _, rest = asked.path.removeprefix("/").partition("/")
        # A page of the web that had its own name point here would send that name.
        name = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host")
        if name not in ("127.0.0.1", "localhost") or not hmac.compare_digest(
            token.encode(), self.server.token.encode()
        ):
            # One answer to all of them, so that nobody learns what was wrong.
            return self._send("This link isn't valid: take the one that plenum printed.", 403)
        self.server.asked = time.monotonic()
        try:
            if not rest:
                study = self.server.study
                html = page(study.name, {}, study.explorer.layout, live=True)
                return self._send(html, 200, "text/html")
            folder, _, block = rest.partition("/")
            if folder != "data":
                raise KeyError(rest)
            revision = parse_qs(asked.query).get("index", [""])[0]
            self._send(self.server.study.read(block, revision), 200, "application/json")
        except KeyError:
            self._send("There is nothing here.", 404)
        except Outdated:
            self._send("The page's server was started anew: load the page again.", 409)
        except (UserError, OSError) as error:  # also of a folder that can't be read
            self._send(str(error), 503)

    def _send(self, body: str | bytes, status: int, kind: str = "text/plain") -> None:
        data = body if isinstance(body, bytes) else body.encode("utf-8", "replace")
        self.send_response(HTTPStatus(status))
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # a browser that no longer wants it
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing: a request would print its token."""


_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


def serve_page(chosen: Settings, journals: Path) -> None:
    """Serve the page of a study until it is stopped, or print the link of the server there is."""
    study = LiveStudy(chosen, journals)
    _ = study.explorer  # refuses one that isn't there
    if not journals.is_dir():
        raise UserError(f"journals: {journals} is no folder; live=true reads a study's journals")
    address = take_address(journals, absolute_uri(chosen.uri), chosen.study)
    if address.listening is None:
        print(f"the page is served already: {address.link}")
        return
    server = PageServer(address, study)
    print(f"serving {address.link}\nIt is for this machine alone; Ctrl-C ends it.", flush=True)
    with server, suppress(KeyboardInterrupt):
        server.serve_forever()


def main() -> None:
    """Serve the page that a sweep offered, on the socket that it hands over."""
    given = json.loads(sys.argv[1])
    # Behind the sweep, whose calls mustn't wait for a page.
    os.nice(10)
    listening, held = given["inherited"]
    with open(held, "r+", encoding="utf-8") as lock:
        lock.seek(0)
        known = json.loads(lock.read())
        address = PageAddress(**known, listening=socket.socket(fileno=listening), held=lock)
        chosen = Settings(given["study"], given["uri"], Path())
        server = PageServer(address, LiveStudy(chosen, Path(given["journals"])))
        threading.Thread(target=server.end_when_idle, daemon=True).start()
        with server:
            server.serve_forever()


if __name__ == "__main__":
    main()
