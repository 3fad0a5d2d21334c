"""A strict emulation of Slack on loopback, with users that a test controls.

    async with SlackEmulator() as slack:
        client = AsyncWebClient(slack.bot_token, base_url=slack.api_url)
        handler = AsyncSocketModeHandler(AsyncApp(client=client), slack.app_token)
        ann = slack.person("Ann", language="en-GB")
        chat = slack.private(ann)
        await chat.says(ann, "Hello")
        ...
        await chat.until(lambda c: "Hello" in c.screen[-1])
        assert slack.violations == []

It answers as the real service does, as far as that is known, and refuses everything else.
"""

import itertools
import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from parley.testing.emulators.slack_chat import Chat
from parley.testing.emulators.slack_line import Delivery
from parley.testing.emulators.slack_press import view_submission
from parley.testing.emulators.slack_server import ALL_SCOPES, SlackServer
from parley.testing.emulators.slack_socket import Reason
from parley.testing.emulators.slack_state import Belongs, Kind, Message, Person, Room, Submission, View
from parley.testing.emulators.slack_wire import Json


class SlackEmulator(SlackServer):
    """The Slack workspace of one app, with its users. `pace.on = False` lifts the rate limits."""

    def __init__(
        self,
        *,
        pace: bool = True,
        scopes: Collection[str] = ALL_SCOPES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(pace=pace, scopes=scopes, clock=clock)
        self._person_ids = itertools.count(7_000_000_001)
        self._room_ids = itertools.count(8_000_000_001)

    # Users

    def person(self, name: str, *, language: str | None = None, is_bot: bool = False) -> Person:
        """Create a user with the id U7000000001, U7000000002, ... `is_bot`: another app, which may post."""
        username = name.lower().replace(" ", "_")
        person = Person(f"U{next(self._person_ids)}", name, username, language, is_bot)
        self._world.people[person.id] = person
        return person

    def make(self, person: Person, belongs: Belongs) -> Person:
        """Make a user a full member, a guest, or a user of another organisation with a shared channel."""
        self._world.people[person.id] = made = replace(person, belongs=belongs)
        return made

    def lives_in(self, person: Person, timezone: str) -> None:
        """Change the time zone of a user's profile."""
        self._world.people[person.id] = replace(person, timezone=timezone)

    def private(self, person: Person) -> Chat:
        """Return the private chat of this user with the bot."""
        return Chat(self._world, self._world.open_private(person))

    def group(self, title: str, people: Sequence[Person] = (), *, kind: Kind = "channel") -> Chat:
        """Create a channel with the bot: public, private ("group"), or a group of direct messages ("mpim")."""
        room = Room(f"C{next(self._room_ids)}", kind, title, list(people))
        self._world.rooms[room.id] = room
        return Chat(self._world, room)

    def go_by(self, now: Callable[[], float]) -> None:
        """Use this clock for the times of messages."""
        self._world.now = now

    @property
    def scopes_used(self) -> set[str]:
        """Scopes that the calls and delivered events needed, for comparison with a manifest."""
        return self._world.scopes_used

    @property
    def events_used(self) -> set[str]:
        """Delivered events by their subscription names, such as "message.im" or "app_mention"."""
        return self._world.events_used

    @property
    def connected(self) -> bool:
        """True if a socket is open and ready or, over HTTP, if there is an address."""
        return bool(self.hub.ready or self.hooks.url)

    @property
    def unheard(self) -> int:
        """Number of events that the app has not acknowledged."""
        return len(self.line.open)

    # Faults

    @property
    def ack_timeout(self) -> float:
        """Seconds in which the app must acknowledge."""
        return self.line.ack_timeout

    @ack_timeout.setter
    def ack_timeout(self, seconds: float) -> None:
        self.line.ack_timeout = seconds

    @property
    def forgetful(self) -> bool:
        """True if events are lost while no socket is open."""
        return self.line.forgetful

    @forgetful.setter
    def forgetful(self, lose: bool) -> None:
        self.line.forgetful = lose

    @property
    def stream_ttl(self) -> float:
        """Seconds without a part after which Slack closes a stream."""
        return self._world.stream_seconds

    @stream_ttl.setter
    def stream_ttl(self, seconds: float) -> None:
        self._world.stream_seconds = seconds

    @property
    def stream_lifetime(self) -> float:
        """Seconds after its begin at which Slack closes a stream."""
        return self._world.stream_lifetime

    @stream_lifetime.setter
    def stream_lifetime(self, seconds: float) -> None:
        self._world.stream_lifetime = seconds

    @property
    def stuck_streams(self) -> list[Message]:
        """Messages whose streams are open, or that keep an error mark, as Slack had to end them."""
        now = self.clock()
        shown = (each for room in self._world.rooms.values() for each in room.seen if not each.deleted)
        return [each for each in shown if each.stream and (each.stream.is_open(now) or each.stream.is_broken(now))]

    def refuse_streams(self, error: str) -> None:
        """Refuse streams at their begin with this error from now on; empty: allow them again."""
        self._world.streams_refused = error

    @property
    def assistant_allowed(self) -> bool:
        """True if the app may show a status, a title and prompts."""
        return self._world.assistant_allowed

    @assistant_allowed.setter
    def assistant_allowed(self, allowed: bool) -> None:
        self._world.assistant_allowed = allowed

    def deliver_to(self, url: str) -> None:
        """Send everything to this address by signed HTTP from now on, and nothing to sockets."""
        self.hooks.url = url
        self.line.carrier = self.hooks
        self.line.flush()

    async def push(self, event: JsonValue) -> None:
        """Send any event, also malformed ones. A string is sent as a frame, and so is a dict with an `envelope_id`; an
        `event_callback` is delivered unchanged; anything else becomes the `event` of an ordinary delivery."""
        if isinstance(event, str):
            self.hub.send_text(event)
        elif isinstance(event, dict) and "envelope_id" in event:
            self.hub.send_text(json.dumps(event))
        elif isinstance(event, dict) and event.get("type") == "event_callback":
            self.line.push(Delivery("events_api", event))
        else:
            self.line.push(Delivery("events_api", self._world.wrap(event)))

    def redeliver(self, count: int = 1) -> None:
        """Deliver the last acknowledged events once more, as retries."""
        self.line.redeliver(count)

    @property
    def calls_in_window(self) -> int:
        """Number of calls made before the time that Slack had named."""
        return self.pace.calls_in_window

    def refresh(self, how: Reason = "refresh_requested", *, count: int | None = None) -> None:
        """Tell the oldest `count` sockets (None: all) to disconnect, and close them a moment later."""
        self.hub.dismiss(how, self.hub.sockets[:count])

    def revoke(self, error: str = "token_revoked") -> None:
        """Reject the bot token from now on; `error` may also be "account_inactive" or "invalid_auth"."""
        about: Json = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [self.bot.id]}}
        self._world.tell("tokens_revoked", {**about, "event_ts": self._world.ts()})
        self.refuse(error)

    def refuse(self, error: str) -> None:
        """Reject the bot token with this error and tell nobody; empty: accept it again."""
        self._refused = error

    def uninstall(self) -> None:
        self._world.tell("app_uninstalled", {"type": "app_uninstalled", "event_ts": self._world.ts()})
        self._refused = "account_inactive"

    def opens_home(self, person: Person) -> None:
        """Open the app's home as a user."""
        event: Json = {"type": "app_home_opened", "user": person.id, "tab": "home", "event_ts": self._world.ts()}
        self._world.tell("app_home_opened", {**event, "channel": self._world.open_private(person).id})

    # Modals

    @property
    def views(self) -> list[View]:
        """Open modals, oldest first."""
        return [each for each in self._world.views.values() if not each.closed]

    @property
    def homes(self) -> Mapping[str, View]:
        """Published homes of the app by user id."""
        return self._world.homes

    async def submits(self, person: Person, view: View, values: Mapping[str, str]) -> Submission:
        """Submit a modal, with values by `action_id` or `block_id` of the inputs."""
        submission = Submission(view)

        def heard(answer: Json) -> None:
            submission.answered, submission.answer = True, answer
            view.closed = answer.get("response_action") in (None, "clear")
            self.changes.notify()

        def failed(why: str) -> None:
            submission.failed = why

        payload = view_submission(self._world, person, view.filled(values))
        self._world.deliver("interactive", payload, heard, failed)
        return submission
