"""Filling in the options of a slash command, as Discord's client does with the text that a user types."""

from parley.testing.emulators.discord_state import Json

_NUMBER = 4
FILE = 11


def filled_in(command: Json, typed: str) -> list[Json]:
    """Return the options for the typed text: choices and numbers take one word, and the last text takes the rest.

    Raises AssertionError for what the client does not let anybody send.
    """
    options = command.get("options")
    given: list[Json] = []
    left = typed
    found = [each for each in options if isinstance(each, dict)] if isinstance(options, list) else []
    declared = [each for each in found if each.get("type") != FILE]
    for number, option in enumerate(declared):
        is_last = number == len(declared) - 1
        first, _, rest = left.partition(" ")
        choices = option.get("choices")
        known = [each["value"] for each in choices if isinstance(each, dict)] if isinstance(choices, list) else None
        if known is not None and first in known:
            value, left = first, rest.strip()
        elif known is not None or not left:
            _check_optional(option, command)
            continue
        elif option.get("type") == _NUMBER:
            if not first.isdecimal():
                raise AssertionError(f"the client lets nobody send {first!r} as the number {option['name']}")
            given.append({"name": option["name"], "type": _NUMBER, "value": int(first)})
            left = rest.strip()
            continue
        else:
            value, left = (left, "") if is_last else (first, rest.strip())
        given.append({"name": option["name"], "type": 3, "value": value})
    if left:
        raise AssertionError(f"the client offers no option of /{command['name']} for {left!r}")
    return given


def file_option(command: Json) -> str | None:
    """Return the name of the option that takes a file."""
    options = command.get("options")
    found = [each for each in options if isinstance(each, dict)] if isinstance(options, list) else []
    return next((str(each["name"]) for each in found if each.get("type") == FILE), None)


def _check_optional(option: Json, command: Json) -> None:
    if option.get("required"):
        raise AssertionError(f"the client lets nobody send /{command['name']} without {option['name']}")
