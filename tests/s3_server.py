"""A real S3 server on loopback, and what lies in it as somebody else's client sees it."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

KEYS = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "tests-secret"}


@dataclass
class S3:
    """A server with the bucket ``plenum``; it keeps what it has while it is stopped."""

    port: int
    _server: ThreadedMotoServer | None = None
    client: Any = field(init=False)

    def __post_init__(self) -> None:
        keys = {name.lower(): value for name, value in KEYS.items()}
        self.client = boto3.client("s3", endpoint_url=self.url, region_name="us-east-1", **keys)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to reach it."""
        return {**KEYS, "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": self.url}

    def start(self) -> None:
        self._server = ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        self._server.start()

    def stop(self) -> None:
        assert self._server is not None
        self._server.stop()

    def names(self, prefix: str = "") -> list[str]:
        listing = self.client.get_paginator("list_objects_v2")
        pages = listing.paginate(Bucket="plenum", Prefix=prefix)
        return [found["Key"] for page in pages for found in page.get("Contents", ())]

    def get(self, name: str) -> bytes:
        return bytes(self.client.get_object(Bucket="plenum", Key=name)["Body"].read())

    def put(self, name: str, data: bytes) -> None:
        self.client.put_object(Bucket="plenum", Key=name, Body=data)

    def delete(self, name: str) -> None:
        self.client.delete_object(Bucket="plenum", Key=name)


@contextmanager
def serving() -> Iterator[S3]:
    """A server on a port of its own."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        server = S3(probe.getsockname()[1])
    server.start()
    server.client.create_bucket(Bucket="plenum")
    yield server
    server.stop()
