"""What a command sets for chats on one node holds in chats that other nodes work on."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from gateway.cluster.signals import NodeSignals
from gateway.store.signals import Handler
from gateway.store.topics import Topic
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.test_model_commands import offering
from tests.gateway.test_skill_commands import write_skill

THREAD = {"group": "team", "thread": "7"}


@dataclass(frozen=True)
class Change:
    """A command in a group, and how a thread of the group shows what it has set."""

    command: str
    asked: str
    before: str
    after: str


CHANGES = {
    "model": Change("/model big", "/model", "**scripted** answers here", "**anthropic/big** answers here"),
    "thinking": Change("/think high", "/think", "is **off** here", "is **high** here"),
    "time zone": Change("/tz Asia/Tokyo", "/tz", "Europe/Paris", "Asia/Tokyo"),
    "own time zone": Change("/tz mine Asia/Tokyo", "/tz", "Europe/Paris", "Asia/Tokyo"),
    "skill": Change("/skill load chart channel", "/skills", "[○] **chart**", "[✓] **chart**"),
}


async def said(nodes: Nodes, bot: Bot, text: str, *, thread: str | None = None) -> str:
    await bot.channel.hears(text, group="team", thread=thread)
    await nodes.settled()
    return nodes.platform.screen[-1]


@pytest.mark.parametrize("kind", CHANGES)
async def test_what_is_set_in_a_group_on_one_node_holds_in_its_thread_on_another(
    nodes: Nodes, tmp_path: Path, kind: str
) -> None:
    change = CHANGES[kind]
    write_skill(tmp_path / "skills", "chart")
    skills = SkillLibrary([(tmp_path / "skills", Origin.OWNER)], environ={})
    one, other = [await nodes.start(models=offering(), skills=skills) for _ in range(2)]
    assert change.before in await said(nodes, other, change.asked, thread="7")

    await said(nodes, one, change.command)
    shown = ""
    for _ in range(100):  # the other node hears of it a moment later
        if change.after in (shown := await said(nodes, other, change.asked, thread="7")):
            break

    assert change.after in shown
    assert nodes.owner(nodes.platform.chat(group="team")) == nodes.node_of(one)
    assert nodes.owner(nodes.platform.chat(**THREAD)) == nodes.node_of(other)


async def test_each_topic_of_news_has_a_reader_on_each_node(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: set[str] = set()
    on = NodeSignals.subscribe

    def noted(signals: NodeSignals, topic: str, react: Handler) -> None:
        heard.add(topic)
        on(signals, topic, react)

    monkeypatch.setattr(NodeSignals, "subscribe", noted)
    await nodes.start()

    assert {*Topic} <= heard
