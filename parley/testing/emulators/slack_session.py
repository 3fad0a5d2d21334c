"""State of an agent session."""

from dataclasses import dataclass


@dataclass
class Session:
    """The state of an app in a thread, as Slack shows it until the app says otherwise."""

    status: str
    title: str
