"""Time zones for tests, the same on every machine and independent of later changes of the rules."""

import io
import os
import struct
import zoneinfo
from zoneinfo import ZoneInfo


def use_pinned_zones() -> None:
    """Read zones from the pinned `tzdata` package instead of the system's files, also in programs that tests start."""
    os.environ["PYTHONTZPATH"] = ""
    zoneinfo.reset_tzpath(to=())


def zone_by_rule(rule: str) -> ZoneInfo:
    """Return a zone with a POSIX rule for its changes of clocks, such as "CST5CDT,M3.2.0/0,M11.1.0/1".

    For tests of particular changes, which real zone data may revoke.
    """
    header = struct.pack(">4sc15x6l", b"TZif", b"2", 0, 0, 0, 0, 1, 4)
    body = struct.pack(">lbb4s", 0, 0, 0, b"UTC\0")
    return ZoneInfo.from_file(io.BytesIO(header + body + header + body + f"\n{rule}\n".encode()), key=rule)
