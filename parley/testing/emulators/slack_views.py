"""Modals and the app's home: views.open, views.update, views.publish, and actions of users in them."""

import time

from parley.testing.emulators import slack_params as params
from parley.testing.emulators.slack_api import MethodGroup
from parley.testing.emulators.slack_blocks import check_blocks
from parley.testing.emulators.slack_state import TEAM, View
from parley.testing.emulators.slack_wire import Json, SlackError


class Views(MethodGroup):
    def open(self, asked: params.OpenView) -> Json:
        if asked.trigger_id not in self.world.triggers:
            raise SlackError("invalid_trigger_id")
        until, person = self.world.triggers[asked.trigger_id]
        if until <= 0:
            raise SlackError("exchanged_trigger_id")
        if self.world.clock() > until:
            raise SlackError("expired_trigger_id")
        self.world.triggers[asked.trigger_id] = (0.0, person)
        view = View(f"V{next(self.world.numbers):010d}", person, {})
        self._fill(view, asked.view)
        self.world.views[view.id] = view
        self.world.changes.notify()
        return {"view": view.about}

    def update(self, asked: params.UpdateView) -> Json:
        view = self.world.views.get(asked.view_id or "")
        if view is None or view.closed:
            raise SlackError("not_found")
        if asked.hash is not None and asked.hash != view.about["hash"]:
            raise SlackError("hash_conflict")
        self._fill(view, asked.view)
        self.world.changes.notify()
        return {"view": view.about}

    def publish(self, asked: params.PublishView) -> Json:
        if asked.user_id not in self.world.people:
            raise SlackError("user_not_found")
        if asked.view.get("type") != "home":
            raise SlackError("invalid_arguments")
        view = View(f"V{next(self.world.numbers):010d}", self.world.people[asked.user_id], {})
        self._fill(view, asked.view)
        self.world.homes[asked.user_id] = view
        self.world.changes.notify()
        return {"view": view.about}

    def _fill(self, view: View, given: Json) -> None:
        blocks = given.get("blocks")
        if not isinstance(blocks, list):
            raise SlackError("invalid_arguments")
        named = self.named([each for each in blocks if isinstance(each, dict)])
        check_blocks(named)
        view.about = {
            "private_metadata": "",
            "callback_id": "",
            **given,
            "blocks": [*named],
            "id": view.id,
            "team_id": TEAM,
            "hash": f"{time.time():.6f}",
            "root_view_id": view.id,
            "app_id": self.world.bot.app_id,
            "bot_id": self.world.bot.bot_id,
            "state": {"values": {}},
        }
