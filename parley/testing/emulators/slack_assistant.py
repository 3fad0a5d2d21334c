"""Web API methods of assistants: status and title of a thread, and suggested prompts."""

from parley.testing.emulators import slack_params as params
from parley.testing.emulators.slack_api import MethodGroup
from parley.testing.emulators.slack_state import Room
from parley.testing.emulators.slack_wire import Json, SlackError

MOST_LOADING_MESSAGES = 10


class Assistants(MethodGroup):
    def set_status(self, asked: params.AssistantStatus) -> Json:
        room = self._thread(asked.channel_id, asked.thread_ts)
        if len(asked.loading_messages or []) > MOST_LOADING_MESSAGES:
            raise SlackError("invalid_arguments")
        if asked.status:
            room.statuses[asked.thread_ts] = asked.status
        else:
            room.statuses.pop(asked.thread_ts, None)
        self.world.act(room, "status", asked.thread_ts, asked.status)
        return {}

    def set_title(self, asked: params.AssistantTitle) -> Json:
        room = self._thread(asked.channel_id, asked.thread_ts)
        self.world.act(room, "title", asked.thread_ts, asked.title)
        return {}

    def set_prompts(self, asked: params.AssistantPrompts) -> Json:
        room = self._thread(asked.channel_id, asked.thread_ts)
        words = " | ".join(each.get("title", "") for each in asked.prompts)
        self.world.act(room, "prompts", asked.thread_ts, words)
        return {}

    def _thread(self, channel: str, thread_ts: str | None) -> Room:
        if not self.world.assistant_allowed:
            raise SlackError("no_permission")
        room = self.joined(channel)
        if thread_ts is not None and thread_ts not in room.messages:
            raise SlackError("invalid_thread_ts")
        return room
