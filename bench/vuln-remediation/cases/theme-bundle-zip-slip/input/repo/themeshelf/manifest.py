"""``theme.json``: what a theme says about itself."""

import json
import re
from dataclasses import dataclass

from themeshelf.errors import BundleError

FILE_NAME = "theme.json"
_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class Theme:
    """A theme's name, which is also the name of its directory, and its version."""

    name: str
    version: str


def parse_manifest(content: bytes) -> Theme:
    """Read a ``theme.json``.

    Raises:
        BundleError: It is not JSON, or the name or the version is missing.
    """
    try:
        fields = json.loads(content)
    except ValueError as error:
        raise BundleError(f"{FILE_NAME} is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise BundleError(f"{FILE_NAME} is not a JSON object")
    name, version = fields.get("name"), fields.get("version")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BundleError(f"{name!r} is not a name for a theme")
    if not isinstance(version, str) or not version:
        raise BundleError(f"{FILE_NAME} has no version")
    return Theme(name, version)
