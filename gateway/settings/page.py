"""Generates docs/settings.md from the settings: `python -m gateway.settings.page > docs/settings.md`."""

import sys
from collections.abc import Iterator

from gateway.settings.env_example import described
from gateway.settings.run_time import Change, change_of
from gateway.settings.settings import setting_names

HEAD = """\
# Settings

This page is made from the settings: `.venv/bin/python -m gateway.settings.page > docs/settings.md`.

Each setting is a variable in the environment or in `.env`, or a key of `parley.toml`; [.env.example](../.env.example)
shows how to write them. Owners and admins change some of them in a direct chat, without a restart:

```text
/config                        all that can change in a chat, their values, and where these come from
/config get keep_days
/config set keep_days 60       wins over the files, also after restarts
/config reset keep_days        returns to the value of the files
/reload                        reads the files again: says what changed, and what needs a restart
```

What has begun keeps its values: the new ones hold from the next message on. If two admins change a setting at once, the
last one wins, and `/audit` shows both. Models are chosen by the same rules as at the start: one that cannot be used is
refused with the reason, and nothing changes. If a model that was set in a chat cannot be used at the next start, those
of the files answer, and `/config` says why.

The last column says where and when a setting changes:

| | |
| --- | --- |
| now | in a chat or a file; holds from the next message on |
| tonight | in a chat or a file; holds from the next nightly work on |
| next stop | in a chat or a file; holds when Parley is stopped |
| restart | in a file; holds from the next start on |
| never from a chat | in a file, from the next start on: it decides about rights, addresses, records or programs |

Tokens are never taken in a chat: one that an admin types after `/config set` is not stored, and is masked from then on.
"""
CHANGES = {
    Change.NOW: "now",
    Change.TONIGHT: "tonight",
    Change.NEXT_STOP: "next stop",
    Change.RESTART: "restart",
    Change.NEVER: "never from a chat",
}


def render() -> str:
    """Return the text of the page."""
    rows = ["| setting | in parley.toml | default | what it does | changes |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([HEAD, *rows, *_rows(), ""])


def _rows() -> Iterator[str]:
    for name, key in setting_names().flat.items():
        about = described(key)
        path = ".".join(key)
        cells = (f"`{name}`", f"`{path}`", about.default, about.words.replace("|", "\\|"), CHANGES[change_of(path)])
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.stdout.write(render())
