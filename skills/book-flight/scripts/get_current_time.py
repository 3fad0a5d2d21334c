"""Prints the current time and day, here or in a time zone, and the dates of the next days."""

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo


def zone_of(name: str) -> ZoneInfo | timezone | None:
    """Return the zone, or None for the machine's own. Raises ValueError for an unknown one."""
    if not name:
        return None
    if name.upper() in {"UTC", "Z"}:
        return timezone.utc  # noqa: UP017 - one that needs no table of zones
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        raise ValueError(f"Unknown time zone '{name}'; name one such as Asia/Shanghai") from error


def told(now: datetime, zone: str) -> str:
    days = [("Tomorrow", 1), ("Day after tomorrow", 2), ("In a week", 7)]
    return "\n".join(
        [
            f"Current Date: {now:%Y-%m-%d (%A)}",
            f"Current Time: {now:%H:%M:%S} ({zone or now.tzname()}, UTC{now:%z})",
            *(f"{name}: {now.date() + timedelta(days=count):%Y-%m-%d (%A)}" for name, count in days),
        ]
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="get_current_time.py", description="Say what time it is.")
    parser.add_argument("--zone", default="", help="such as Asia/Shanghai; else that of the machine")
    asked = parser.parse_args(arguments)
    try:
        zone = zone_of(asked.zone)
    except ValueError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    sys.stdout.write(f"{told(datetime.now().astimezone(zone), asked.zone)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
