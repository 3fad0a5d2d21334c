"""Validates time zone names and finds the machine's own zone."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

LOCALTIME = Path("/etc/localtime")


def check_zone(name: str) -> str:
    """Return the name if it is an IANA zone. Raises ValueError with the end of a sentence otherwise."""
    if is_zone(name):
        return name
    near = difflib.get_close_matches(name, available_timezones(), n=1)
    advice = f"did you mean {near[0]}?" if near else "write one such as Europe/Paris or Asia/Shanghai"
    raise ValueError(f"names no time zone ({name[:40]!r}); {advice}")


def system_zone(environ: Mapping[str, str], localtime: Path = LOCALTIME) -> str:
    """Return the IANA name of this machine's zone, or UTC if it cannot be determined."""
    if is_zone(zone := environ.get("TZ", "").removeprefix(":")):
        return zone
    try:
        _, found, name = str(localtime.readlink()).partition("zoneinfo/")
    except OSError:
        return "UTC"
    return name if found and is_zone(name) else "UTC"


def is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return bool(name)
