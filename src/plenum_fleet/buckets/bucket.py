"""A bucket of an object store: what is asked of it, again where it doesn't answer."""

import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from plenum.base import Stopped, UserError, make_printable, say

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import S3Store

PATIENCE_S = 300.0
"""Seconds for which a bucket that doesn't answer is tried again."""

_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 20.0
_AT_ONCE = 16
_PROBE = "plenum"
"""An object that is never changed: a bucket that lets it be made twice fences nobody off."""
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "MLFLOW_S3_ENDPOINT_URL")
_NO_PROFILE = ("AWS_ACCESS_KEY_ID", "AWS_SKIP_SIGNATURE")
"""Variables with which no profile is looked for."""
_T = TypeVar("_T")


@dataclass(frozen=True)
class StoredObject:
    """An object: name, bytes, tag, which changes with its contents, and when it was written (s)."""

    name: str
    size: int
    tag: str
    time_s: float


class Bucket:
    """Reads and writes objects below a prefix, from any thread.

    Parameters
    ----------
    url
        ``s3://bucket/prefix``; endpoint, region and credentials come from the environment.
    patience_s
        As long an outage is sat out.

    Attributes
    ----------
    tell
        Prints a line for the user: that it doesn't answer, and that it does again.
    writer
        Names this process among those that write to the bucket.
    """

    def __init__(self, url: str, patience_s: float = PATIENCE_S) -> None:
        self.url = url
        self.tell: Callable[[str], object] = say
        self._patience_s, self._last = patience_s, float("inf")
        self._store = _connect(url)
        self.writer = secrets.token_hex(8)
        self._readers = ThreadPoolExecutor(_AT_ONCE, "bucket")
        self._down = threading.Event()
        self._hurried = threading.Event()

    def check(self) -> None:
        """Refuse a bucket that can't be written to, or that doesn't keep a second writer out.

        Raises
        ------
        UserError
            It is so; nothing but an empty object was written.
        """
        import obstore

        try:
            for _ in range(2):  # the second put must be refused
                try:
                    obstore.put(self._store, _PROBE, b"", mode="create")
                except obstore.exceptions.AlreadyExistsError:
                    return
        except (obstore.exceptions.BaseError, FileNotFoundError) as error:
            raise UserError(f"journals: {self.url}: {reason(error)}") from None
        raise UserError(
            f"journals: {self.url}: it overwrites what is to be put if absent (If-None-Match), so "
            "that two writers of a journal would go unnoticed; use an S3 with conditional writes"
        )

    def reach(self) -> None:
        """Refuse a bucket that can't be read.

        Raises
        ------
        UserError
            It is so.
        """
        import obstore

        try:
            obstore.list(self._store, _PROBE).collect()
        except (obstore.exceptions.BaseError, FileNotFoundError) as error:
            raise UserError(f"{self.url}: {reason(error)}") from None

    def folders(self) -> list[str]:
        """List the names of the folders right below the prefix."""
        import obstore

        listing = self._try(lambda: obstore.list_with_delimiter(self._store))
        return list(listing["common_prefixes"])

    def hurry(self, patience_s: float | None) -> None:
        """Limit the patience from now on, in seconds; ``None`` lifts the limit."""
        self._last = time.monotonic() + (float("inf") if patience_s is None else patience_s)
        self._hurried.clear() if patience_s is None else self._hurried.set()

    def below(self, folder: str) -> list[StoredObject]:
        """List the objects below a folder."""
        import obstore

        return list(
            map(_describe_object, self._try(lambda: obstore.list(self._store, folder).collect()))
        )

    def get(self, names: Iterable[str]) -> list[bytes | None]:
        """Contents; ``None`` of what isn't there."""
        return list(self._readers.map(self._get, names))

    def head(self, name: str) -> StoredObject | None:
        """Describe an object; ``None`` if there is none."""
        import obstore

        try:
            return _describe_object(self._try(lambda: obstore.head(self._store, name)))
        except FileNotFoundError:
            return None

    def put(self, name: str, data: bytes) -> None:
        """Write an object, in the place of what is there."""
        self._put(name, data, "overwrite")

    def create(self, name: str, data: bytes, instead_of: str | None = None) -> bool:
        """Write an object where there is none, or in the place of one with a tag.

        Returns
        -------
        bool
            True if it is there, by this process; an answer of the bucket may have been lost.
        """
        import obstore

        mode = "create" if instead_of is None else {"e_tag": f'"{instead_of}"'}
        try:
            self._put(name, data, mode)
        except (obstore.exceptions.AlreadyExistsError, obstore.exceptions.PreconditionError):
            try:
                # It may be this process's own, of a try whose answer was lost.
                held = self._try(lambda: obstore.get(self._store, name))
            except FileNotFoundError:
                return False
            return held.attributes.get("writer") == self.writer and bytes(held.bytes()) == data
        return True

    def delete(self, names: Iterable[str]) -> None:
        """Remove objects; those that aren't there are left out."""
        import obstore

        gone = list(names)
        if gone:
            self._try(lambda: obstore.delete(self._store, gone))

    def _get(self, name: str) -> bytes | None:
        import obstore

        try:
            return self._try(lambda: bytes(obstore.get(self._store, name).bytes()))
        except FileNotFoundError:
            return None

    def _put(self, name: str, data: bytes, mode: Any) -> None:
        import obstore

        whose: Any = {"writer": self.writer}
        self._try(lambda: obstore.put(self._store, name, data, attributes=whose, mode=mode))

    def _try(self, act: Callable[[], _T]) -> _T:
        """Do something with the bucket, again and again while it doesn't answer.

        Raises
        ------
        Stopped
            It didn't for too long, or refuses this user.
        """
        from obstore import exceptions as known

        began, pause = time.monotonic(), _PAUSE_S
        final = (known.AlreadyExistsError, known.PreconditionError, FileNotFoundError)
        while True:
            try:
                result = act()
            except final:
                raise
            except (known.PermissionDeniedError, known.UnauthenticatedError) as error:
                raise Stopped(f"{self.url}: {reason(error)}") from None
            except known.InvalidPathError as error:  # of all objects there, until it is gone
                raise Stopped(f"{self.url}: {_describe_misnamed(error)}") from None
            except known.BaseError as error:
                if time.monotonic() > min(began + self._patience_s, self._last):
                    raise Stopped(f"{self.url}: {reason(error)}") from None
                self._say_down(reason(error))
                if self._hurried.wait(pause):  # no more long pauses, but short ones
                    time.sleep(_PAUSE_S)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
            else:
                if self._down.is_set():
                    self._down.clear()
                    self.tell(f"{self.url} answers again")
                return result

    def _say_down(self, why: str) -> None:
        if not self._down.is_set():
            self._down.set()
            patience = f"for {self._patience_s:.0f} s; until then this machine keeps them"
            self.tell(f"{self.url} doesn't answer ({why}); trying again {patience}")


def _describe_object(meta: "ObjectMeta") -> StoredObject:
    tag, time_s = (meta["e_tag"] or "").strip('"'), meta["last_modified"].timestamp()
    return StoredObject(meta["path"], meta["size"], tag, time_s)


def reason(error: Exception) -> str:
    """Describe an error of an object store or the network in one line, without the request."""
    text = str(error).partition("\n\nDebug source")[0]
    stated = re.search(r"<Code>(.*?)</Code>.*?<Message>(.*?)</Message>", text, re.DOTALL)
    if stated:
        return f"{stated[1]}: {stated[2]}"
    if "HTTP error" in text:
        return "it can't be reached"
    return " ".join(text.rpartition(" - ")[2].split())


def _describe_misnamed(error: Exception) -> str:
    """Describe the remedy for a foreign object whose name no path can have."""
    named = re.search(r'Path "(.*?)": ', str(error), re.DOTALL)
    name = make_printable(named[1] if named else "")
    return f'it can\'t be read while an object "{name}" is there, whose name is no path; remove it'


def _connect(url: str) -> "S3Store":
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), None)
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store

        options = {} if any(map(os.environ.get, _NO_PROFILE)) else _profile()
        options |= {"endpoint": endpoint} if endpoint else {}
        if not re.match(r"https?://[\w\[]", options.get("endpoint") or "https://s3"):
            raise ValueError(f"its endpoint {options['endpoint']!r} is no http:// or https:// URL")
        return S3Store.from_url(
            url,
            client_options={
                "allow_http": options.get("endpoint", "").startswith("http://"),
                "connect_timeout": timedelta(seconds=5),
                "timeout": timedelta(seconds=30),
            },
            retry_config={"max_retries": 1, "retry_timeout": timedelta(seconds=10)},
            **options,
        )
    except ImportError:
        raise UserError(
            "journals: s3:// needs the extra s3: sh scripts/install.sh .venv/bin/python s3"
        ) from None
    except (BaseError, ValueError) as error:
        raise UserError(f"journals: {url}: {reason(error)}") from None


def _profile() -> dict[str, Any]:
    """Read the settings of ``~/.aws`` or of the machine's role, as Amazon's own tools do.

    Raises
    ------
    ValueError
        There is no such profile, or there are no credentials.
    """
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session
    from obstore.auth.boto3 import Boto3CredentialProvider

    session = Session()
    try:
        if session.get_credentials() is None:
            raise ValueError(
                "no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
            )
        stated = session.get_scoped_config()
    except BotoCoreError as error:
        raise ValueError(str(error)) from None
    given = {"endpoint": stated.get("endpoint_url"), "region": stated.get("region")}
    if os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"):
        del given["region"]
    # botocore renews credentials ten minutes before they expire, at the latest
    provider = Boto3CredentialProvider(session, ttl=timedelta(minutes=10))
    return {"credential_provider": provider, **{k: v for k, v in given.items() if v}}
