"""Web API methods of agent sessions: status and title of a thread in which an app works.

The loading indicator and Slack's own Stop stay until the app sets another status: a message does not clear them.
"""

from parley.testing.emulators import slack_params as params
from parley.testing.emulators.slack_api import MethodGroup
from parley.testing.emulators.slack_session import Session
from parley.testing.emulators.slack_state import Room
from parley.testing.emulators.slack_wire import Json, SlackError


class Sessions(MethodGroup):
    def set_status(self, asked: params.SessionStatus) -> Json:
        room = self._room(asked.channel_id, asked.thread_ts)
        session = room.sessions.setdefault(asked.thread_ts, Session(asked.status, asked.title or ""))
        session.status = asked.status
        self.world.act(room, "session", asked.thread_ts, asked.status)
        return {"status": session.status, "agent_status": session.status, "title": session.title}

    def rename(self, asked: params.SessionTitle) -> Json:
        room = self._room(asked.channel_id, asked.thread_ts)
        session = room.sessions.get(asked.thread_ts)
        if session is None:
            raise SlackError("session_not_found")
        session.title = asked.title
        self.world.act(room, "title", asked.thread_ts, asked.title)
        return {"title": session.title}

    def _room(self, channel: str, thread_ts: str) -> Room:
        if not self.world.assistant_allowed:  # the app is not declared as an agent
            raise SlackError("not_authorized")
        room = self.joined(channel)
        if thread_ts not in room.messages:
            raise SlackError("invalid_thread_ts")
        return room
