"""The form in which values travel between processes and into hashes: plain JSON."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any


def plain_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass as JSON-able values."""
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: Any) -> Any:
    if hasattr(value, "to_wire"):
        return value.to_wire()
    if isinstance(value, Mapping):
        return {key: _plain(element) for key, element in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(element) for element in value]
    return value


def content_hash(wire: Mapping[str, Any]) -> str:
    """sha256 of the canonical JSON text, in hex."""
    canonical = json.dumps(wire, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()
