"""Names, languages, time zones and memberships of users, looked up so that messages wait only briefly for them."""

import asyncio
import logging
import time
from collections.abc import Iterable, MutableSequence

from pydantic import JsonValue

from channels.base import ChannelError
from channels.slack.client import Answer, Client
from channels.slack.mentions import Names, Person

log = logging.getLogger(__name__)

WAIT_SECONDS = 2.0
"""Longest time a message waits for the names of its sender, of those it mentions, and of the owners of its files."""
FRESH_SECONDS = 300.0
"""Longest time that a full member who became a guest still counts as a full member."""
AGAIN_SECONDS = 60.0
"""Interval before a failed look-up is repeated."""
MOST = 10_000
MOST_AT_ONCE = 50
"""Concurrent look-ups; further users stay nameless until their next message."""
MOST_MENTIONED = 5
"""Look-ups with which none is begun for a mention or the owner of a file: a message may mention hundreds of users, and
the senders of other messages must not wait for them."""


class Users:
    """Answers of `users.info`, by user id."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[str, tuple[Person | None, float]] = {}
        """With the time of the next look-up."""
        self._asking: dict[str, asyncio.Task[None]] = {}

    def __call__(self, user: str) -> Person | None:
        """Return what is known so far; usable as `Names`."""
        found = self._known.get(user)
        return found[0] if found else None

    def is_fresh(self, user: str) -> bool:
        """Return True if nothing needs to be looked up."""
        found = self._known.get(user)
        return not user.startswith(("U", "W")) or (found is not None and found[1] >= time.monotonic())

    def noting(self, missing: MutableSequence[str]) -> Names:
        """Return what is known so far, and let `missing` name the users for whom `wait_for` is worth while."""

        def names(user: str) -> Person | None:
            if not self.is_fresh(user):
                missing.append(user)
            return self(user)

        return names

    async def wait_for(self, senders: Iterable[str], mentioned: Iterable[str]) -> None:
        """Return once what is known is fresh, or after `WAIT_SECONDS`."""
        asking = [self._ask(user, MOST_AT_ONCE) for user in dict.fromkeys(senders) if not self.is_fresh(user)]
        asking += [self._ask(user, MOST_MENTIONED) for user in dict.fromkeys(mentioned) if not self.is_fresh(user)]
        if tasks := [task for task in asking if task is not None]:
            await asyncio.wait(tasks, timeout=WAIT_SECONDS)

    async def close(self) -> None:
        for task in self._asking.values():
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    def _ask(self, user: str, most: int) -> asyncio.Task[None] | None:
        if user not in self._asking:
            if len(self._asking) >= most:
                return None
            self._asking[user] = asyncio.create_task(self._look_up(user))
        return self._asking[user]

    async def _look_up(self, user: str) -> None:
        try:
            answer = await self._client.call("users.info", {"user": user, "include_locale": True})
        except ChannelError as error:
            log.info("no name for user=%s: %s", user, error.reason)
            self._keep(user, self(user), AGAIN_SECONDS)
        else:
            self._keep(user, person_of(answer), FRESH_SECONDS)
        finally:
            del self._asking[user]

    def _keep(self, user: str, person: Person | None, seconds: float) -> None:
        if len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        self._known[user] = (person, time.monotonic() + seconds)


def person_of(answer: Answer) -> Person | None:
    """Parse the answer of `users.info`."""
    user = answer.get("user")
    if not isinstance(user, dict):
        return None
    profile = user.get("profile")
    about = profile if isinstance(profile, dict) else {}
    candidates = (about.get("display_name"), about.get("real_name"), user.get("real_name"), user.get("name"))
    name = next((str(each) for each in candidates if each), "")
    locale, zone = user.get("locale"), user.get("tz")
    if not name:
        return None
    return Person(name, str(locale) if locale else None, _full_member_of(user), str(zone) if zone else None)


def _full_member_of(user: dict[str, JsonValue]) -> frozenset[str]:
    """Return the workspaces of a full member: none for guests, people of other organisations, bots and leavers."""
    if any(user.get(flag) for flag in ("is_restricted", "is_ultra_restricted", "is_stranger", "is_bot", "deleted")):
        return frozenset()
    grid = user.get("enterprise_user")
    teams = grid.get("teams") if isinstance(grid, dict) else None
    return frozenset(str(each) for each in (user.get("team_id"), *(teams if isinstance(teams, list) else ())) if each)
