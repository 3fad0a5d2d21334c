"""Progress by a stream: when it begins, and what happens as it ends; and words that are shown early without one."""

from datetime import timedelta
from pathlib import Path

from agent_core.events import PermissionRequest
from channels.base import ChannelError, ChatKey, MessageGone, OutboundMessage, Posted
from channels.memory import LOST
from channels.streams import Live, StreamEnded
from gateway.security.secrets import Secrets
from tests.clock import HandClock
from tests.gateway.progressing import ANN, LIMITS, Scene, Timed, shown


class Streaming(Timed):
    """Channel whose chats have streams. A stream is a message if `leaves_message`."""

    def __init__(self, clock: HandClock, *, leaves_message: bool = True) -> None:
        super().__init__(clock, limits=LIMITS)
        self.streamed: list[Live] = []
        self.edited: list[str] = []
        """Texts of a stream's message after the stream."""
        self.trouble: list[ChannelError] = []
        self.leaves_message = leaves_message

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        if posted.message_id == "stream":
            self.at.append(round(self.clock.now - 1_000, 3))
            self.edited.append(message.markdown)
        else:
            await super().edit(posted, message)

    async def delete(self, posted: Posted) -> None:
        if posted.message_id != "stream":
            await super().delete(posted)

    def stream(self, chat: ChatKey, *, person: str, reply_to: str | None, key: str) -> "OneStream":
        assert (person, reply_to, key) == ("ann", "m1", "run-1:progress:0")
        return OneStream(self, chat)


class OneStream:
    def __init__(self, channel: Streaming, chat: ChatKey) -> None:
        self.posted: Posted | None = None
        self.is_message = channel.leaves_message
        self._channel = channel
        self._chat = chat
        self._shown: Live | None = None

    def has_news(self, live: Live) -> bool:
        return self._shown is None or live.words != self._shown.words

    async def show(self, live: Live) -> None:
        self._channel.at.append(round(self._channel.clock.now - 1_000, 3))
        await self._channel.answers.wait()
        if self._channel.trouble:
            raise self._channel.trouble.pop(0)
        self._shown = live
        self._channel.streamed.append(live)
        if self._channel.leaves_message:
            self.posted = Posted(chat=self._chat, message_id="stream")


def words(scene: Scene) -> list[str]:
    assert isinstance(scene.channel, Streaming)
    return [live.words for live in scene.channel.streamed]


def edits(scene: Scene) -> list[str]:
    assert isinstance(scene.channel, Streaming)
    return scene.channel.edited


async def begins(scene: Scene) -> None:
    """Let the first words come and be streamed."""
    scene.says("It is")
    await scene.clock.advance(0.2)
    await scene.channel.until(lambda: words(scene) == ["It is"])


async def test_the_first_words_are_streamed_a_moment_after_they_came(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming) as scene:
        await scene.clock.advance(0.4)
        await begins(scene)
        scene.says(" Oslo.")
        await scene.clock.advance(1)
        await scene.channel.until(lambda: words(scene) == ["It is", "It is Oslo."])

        assert scene.channel.at[0] == 0.5
        assert scene.channel.posts == []
        assert scene.message.posted == Posted(chat=ANN, message_id="stream")
        assert scene.message.may_become_answer


async def test_words_that_come_fast_are_streamed_once_a_second(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming) as scene:
        for _ in range(30):
            scene.says("word ")
            await scene.clock.advance(0.1)
        await scene.message.stop()

        assert scene.channel.at == [0.1, 1.1, 2.1]


async def test_an_answer_that_is_there_at_once_is_not_streamed(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming) as scene:
        scene.says("Oslo.")
        await scene.clock.advance(0.05)
        await scene.message.stop()

        assert scene.channel.at == []


async def test_a_run_whose_stream_ends_goes_on_as_an_edited_message(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming) as scene:
        assert isinstance(scene.channel, Streaming)
        await begins(scene)
        scene.channel.trouble = [StreamEnded("expired")]
        scene.says(" Oslo.")
        await scene.clock.advance(3)

        await scene.channel.until(lambda: edits(scene) == ["It is Oslo."])
        assert scene.channel.posts == []
        assert words(scene) == ["It is"]


async def test_a_stream_that_is_refused_leaves_the_edited_message(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming) as scene:
        assert isinstance(scene.channel, Streaming)
        scene.channel.trouble = [StreamEnded("missing_scope")]
        scene.says("It is")
        await scene.clock.advance(0.2)

        await scene.channel.until(lambda: scene.channel.screen == ["It is"])
        [(_, message)] = scene.channel.posts
        assert [[button.action for button in row] for row in message.buttons] == [["/stop run-1"]]


async def test_a_message_takes_the_place_of_a_draft(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=lambda clock: Streaming(clock, leaves_message=False)) as scene:
        assert isinstance(scene.channel, Streaming)
        await begins(scene)
        assert scene.message.posted is None
        scene.channel.trouble = [StreamEnded("a tool runs")]
        scene.says(" here:")
        await scene.clock.advance(1.5)

        await scene.channel.until(lambda: scene.channel.screen == ["It is here:"])
        assert scene.message.posted is not None


async def test_a_refusal_for_now_is_tried_again_by_the_stream(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming) as scene:
        assert isinstance(scene.channel, Streaming)
        scene.channel.trouble = [ChannelError("flood", retry_after=5)]
        scene.says("It is")
        await scene.clock.advance(5)
        assert words(scene) == []
        await scene.clock.advance(1)

        await scene.channel.until(lambda: words(scene) == ["It is"])
        assert scene.channel.posts == []


async def test_a_stream_whose_begin_was_not_confirmed_is_looked_for_before_there_is_another_message(
    tmp_path: Path,
) -> None:
    async with shown(tmp_path, channel=Streaming) as scene:
        assert isinstance(scene.channel, Streaming)
        scene.channel.trouble = [LOST]
        scene.says("It is")
        await scene.clock.advance(0.2)
        await scene.message.stop()

        assert len(scene.channel.posts) == 1, "a platform that keeps keys returns the message that is there"
        assert scene.message.posted is not None


async def test_a_stream_that_was_deleted_leaves_no_trace_and_another_message_goes_on(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming) as scene:
        assert isinstance(scene.channel, Streaming)
        await begins(scene)
        scene.channel.trouble = [MessageGone("deleted")]
        scene.says(" Oslo")
        await scene.clock.advance(3)

        await scene.channel.until(lambda: scene.channel.screen == ["It is Oslo"])
        assert scene.message.posted != Posted(chat=ANN, message_id="stream")


async def test_waiting_for_approval_is_shown_by_the_message_since_a_stream_would_expire(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming) as scene:
        assert isinstance(scene.channel, Streaming)
        scene.says("Let me look.")
        await scene.clock.advance(0.2)
        await scene.channel.until(lambda: words(scene) == ["Let me look."])
        scene.starts("1")
        scene.happens(PermissionRequest(request_id="r", tool_call_id="1", tool_name="look", args={}, reason="new"))
        await scene.clock.advance(3)

        await scene.channel.until(lambda: edits(scene) != [])
        assert "Looking at 1" in edits(scene)[0]


async def test_secrets_are_masked_also_where_they_come_in_pieces(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming, secrets=Secrets(["sk-canary-4f1d9b7c2a6e"])) as scene:
        scene.says("The key is sk-canary-4f1d")
        await scene.clock.advance(0.2)
        scene.says("9b7c2a6e.")
        await scene.clock.advance(2)
        await scene.channel.until(lambda: len(words(scene)) == 2)

        assert not any("canary" in shown_words for shown_words in words(scene))


async def test_a_secret_that_a_tool_call_cuts_in_two_is_not_streamed(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming, secrets=Secrets(["sk-canary-4f1d9b7c2a6e"])) as scene:
        scene.says("It begins with sk-canary-")
        await scene.clock.advance(0.2)
        await scene.channel.until(lambda: words(scene) == ["It begins with sk-canary-"])
        scene.starts("1")
        scene.ends("1")
        scene.answers_anew()
        scene.says("4f1d9b7c2a6e")
        await scene.clock.advance(3)

        await scene.channel.until(lambda: edits(scene) != [])
        assert words(scene) == ["It begins with sk-canary-"]


async def test_a_stream_that_somebody_wrote_below_does_not_become_the_answer(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming) as scene:
        scene.channel.answers.clear()
        scene.says("It is")
        await scene.clock.advance(0.1)
        await scene.channel.until(lambda: scene.channel.at == [0.1])
        scene.masked_channel.other_wrote(ANN)
        scene.channel.answers.set()
        await scene.message.stop()

        assert scene.message.posted is not None
        assert not scene.message.may_become_answer


async def test_a_draft_is_not_shown_once_the_run_has_sent_a_message_that_may_be_its_answer(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=lambda clock: Streaming(clock, leaves_message=False)) as scene:
        scene.starts("1")
        await scene.masked_channel.post(ANN, OutboundMessage(markdown="a card"), "card")
        scene.ends("1")
        scene.says("The card is there.")
        await scene.clock.advance(1)

        assert words(scene) == []
        assert scene.channel.screen == ["a card"]


async def test_nor_is_it_once_somebody_has_written_below_that_message(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=lambda clock: Streaming(clock, leaves_message=False)) as scene:
        scene.starts("1")
        await scene.masked_channel.post(ANN, OutboundMessage(markdown="a card"), "card")
        scene.ends("1")
        await scene.clock.advance(0.1)
        scene.masked_channel.other_wrote(ANN)
        await scene.clock.advance(0.1)
        scene.says("The card is there.")
        await scene.clock.advance(1)

        assert words(scene) == []
        assert scene.channel.screen == ["a card"]


async def test_words_that_may_only_repeat_a_card_are_not_shown_early(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Streaming) as scene:
        scene.starts("1")
        await scene.masked_channel.post(ANN, OutboundMessage(markdown="a card"), "card")
        scene.ends("1")
        scene.says("The card is there.")
        await scene.clock.advance(1.4)
        assert words(scene) == []
        await scene.clock.advance(0.2)

        await scene.channel.until(lambda: words(scene) == ["The card is there."])


async def test_words_are_shown_as_soon_as_edits_are_plenty_again(tmp_path: Path) -> None:
    early = {"words_after": timedelta(seconds=0.25), "edits_wait_alone": True}
    async with shown(tmp_path, limits=LIMITS.model_copy(update=early)) as scene:
        scene.limiter.hold(ANN, 0.4, edit=True)
        for _ in range(5):
            scene.says("It is ")
            await scene.clock.advance(0.1)
        assert scene.channel.at == [0.4]


class Few(Streaming):
    """Channel on which one stream may begin at once."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__(clock)
        self.limits = self.limits.model_copy(update={"streams_per_minute": 2})


async def test_a_run_for_which_no_stream_may_begin_yet_is_an_edited_message(tmp_path: Path) -> None:
    async with shown(tmp_path, channel=Few) as scene:
        assert scene.limiter.begin_stream()  # of another chat
        scene.says("It is")
        await scene.clock.advance(0.2)

        await scene.channel.until(lambda: scene.channel.screen == ["It is"])
        assert words(scene) == []
