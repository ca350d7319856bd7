"""Events ``gen_ai.evaluation.result`` of OpenTelemetry, sent over OTLP to a collector.

The protocol's messages are made from its published definitions (``opentelemetry-proto``).
Names of attributes: OpenTelemetry's semantic conventions of generative AI, status development.
"""

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

import httpx

from plenum.base import code_version
from plenum_audit.exports.findings import AuditFinding

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue

EVENT = "gen_ai.evaluation.result"
_PATH = "/v1/logs"
_MOST = 500
"""Number of events in a request."""
_TIMEOUT_S = 10.0


def send_events(url: str, study: str, findings: Sequence[AuditFinding]) -> None:
    """Send an event for each finding.

    Headers, such as a key, are read from ``OTEL_EXPORTER_OTLP_HEADERS``, as the exporters of
    OpenTelemetry do.

    Parameters
    ----------
    url
        Address of the collector, with or without ``/v1/logs``.
    study
        Name of the audit's study, an attribute of the resource.

    Raises
    ------
    httpx.HTTPError
        The collector doesn't answer, or refuses the events.
    """
    address = url.rstrip("/")
    address += "" if address.endswith(_PATH) else _PATH
    headers = {**_headers(os.environ), "Content-Type": "application/x-protobuf"}
    with httpx.Client(timeout=_TIMEOUT_S) as client:
        for at in range(0, len(findings), _MOST):
            last = at + _MOST >= len(findings)
            body = _request(study, findings[at : at + _MOST], last)
            client.post(address, content=body, headers=headers).raise_for_status()


def _request(study: str, findings: Sequence[AuditFinding], last: bool) -> bytes:
    """Return findings as an export request; the last one of the last request is the suite's."""
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
    from opentelemetry.proto.logs.v1.logs_pb2 import (
        LogRecord,
        ResourceLogs,
        ScopeLogs,
        SeverityNumber,
    )
    from opentelemetry.proto.resource.v1.resource_pb2 import Resource

    now, version = time.time_ns(), code_version()
    records = [
        LogRecord(
            time_unix_nano=now,
            observed_time_unix_nano=now,
            severity_number=SeverityNumber.SEVERITY_NUMBER_INFO,
            event_name=EVENT,
            attributes=_attributes(_fields(each, last and each is findings[-1])),
        )
        for each in findings
    ]
    service = {"service.name": "plenum", "service.version": version, "plenum.study": study}
    scope = ScopeLogs(
        scope=InstrumentationScope(name="plenum_audit", version=version), log_records=records
    )
    resource = ResourceLogs(resource=Resource(attributes=_attributes(service)), scope_logs=[scope])
    return bytes(ExportLogsServiceRequest(resource_logs=[resource]).SerializeToString())


def _fields(finding: AuditFinding, whole: bool) -> dict[str, str | float | int | None]:
    """Return the attributes of an event by name; ``None`` for those that it doesn't have."""
    return {
        "gen_ai.evaluation.name": "plenum.suite" if whole else "plenum.case",
        "gen_ai.evaluation.score.value": finding.agreement,
        "gen_ai.evaluation.score.label": finding.label,
        "gen_ai.evaluation.explanation": finding.sentence,
        "plenum.case": None if whole else finding.case,
        "plenum.runs": finding.runs,
    }


def _attributes(fields: Mapping[str, str | float | int | None]) -> "list[KeyValue]":
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

    made = []
    for name, value in fields.items():
        if isinstance(value, str):
            made.append(KeyValue(key=name, value=AnyValue(string_value=value)))
        elif isinstance(value, int):
            made.append(KeyValue(key=name, value=AnyValue(int_value=value)))
        elif value is not None:
            made.append(KeyValue(key=name, value=AnyValue(double_value=value)))
    return made


def _headers(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that ``OTEL_EXPORTER_OTLP_HEADERS`` lists, ``name=value,...``."""
    given = (
        environment.get("OTEL_EXPORTER_OTLP_LOGS_HEADERS")
        or environment.get("OTEL_EXPORTER_OTLP_HEADERS")
        or ""
    )
    pairs = (part.partition("=") for part in given.split(",") if "=" in part)
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}
