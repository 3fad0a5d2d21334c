"""An app with Slack's agent view."""

import pytest

from parley.testing.emulators.slack import SlackEmulator
from tests.emulators.model_script import Turn, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, shows

pytestmark = [only("slack"), pytest.mark.timeout(120)]

WORDS = "It is a long story, which is told from its beginning to its end."


async def test_with_the_agent_view_each_message_begins_a_conversation_in_its_thread(
    own_stage: Stage, own_slack: SlackEmulator
) -> None:
    own_stage.program.set("SLACK_AGENT_VIEW", "true")
    await own_stage.start()
    ann = own_slack.person("Ann")
    chat = own_slack.private(ann)
    own_stage.script.then(Turn(WORDS, per_chunk=0.1), says("And more."), says("Something else."))

    asked = await chat.says(ann, "tell me a story")
    thread = chat.thread(asked)
    await thread.until(lambda c: c.screen == [WORDS] and not c.streaming)
    assert len(own_slack.calls_of("chat.startStream")) == 1
    await thread.says(ann, "go on")
    await thread.until(shows(WORDS, "And more."))
    other = chat.thread(await chat.says(ann, "what else?"))
    await other.until(shows("Something else."))

    assert len(own_stage.model.requests[1].texts("user")) == 2
    assert len(own_stage.model.requests[2].texts("user")) == 1
