"""What Anthropic checks of the thoughts that come back: signatures, order, the beginning of a turn, what came before.

See platform.claude.com, "Extended thinking" and "Preserved thinking". The sentences are those of reports such as
anthropics/claude-code issue 63404, BerriAI/litellm issues 9020 and 18926, and anomalyco/opencode issue 48637.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from tests.emulators.model_script import Json

UNSIGNED = "{}.thinking.signature: Field required"
FORGED = "{}: Invalid `{}` in `{}` block"
CHANGED = (
    "{}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks "
    "must remain as they were in the original response."
)
BEGINS = (
    "{}.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a final "
    "`assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` "
    "blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable "
    "`thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)
DISABLED = (
    "{}: When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use "
    "thinking blocks, enable `thinking` in your request."
)
ENDS = "messages.{}: The final block in an assistant message cannot be `thinking`."
BOUND = (
    "{}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or "
    'set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
BINDING_HEADER = "thinking-binding-controls-2026-08-01"
HEADER_MISSING = f"That setting requires the `{BINDING_HEADER}` value in the `anthropic-beta` header."

_SEAL = {"thinking": "signature", "redacted_thinking": "data"}


@dataclass(frozen=True)
class Thought:
    """A thought that a server has handed out."""

    block: Json
    before: JsonValue
    """Everything that it followed, without thoughts."""
    after: tuple[str, ...]
    """The seals of the thoughts that it followed."""


@dataclass(frozen=True)
class Sent:
    """A block of a request, and its place there."""

    message: int
    place: int
    block: Json

    @property
    def path(self) -> str:
        return f"messages.{self.message}.content.{self.place}"

    @property
    def is_thought(self) -> bool:
        return is_thought(self.block)


class Thoughts:
    """All thoughts that one server has handed out, each by its signature or data, and its answers, block by block."""

    def __init__(self) -> None:
        self._known: dict[str, Thought] = {}
        self._answers: list[list[Json]] = []
        self._paused: list[tuple[str, str]] = []

    def hand_out(self, body: Json, blocks: Sequence[Json], *, paused: bool = False) -> None:
        """Note an answer to a request; a paused one may come back as the last message."""
        if paused and blocks:
            self._paused.append(_kind(blocks[-1]))
        before = _conversation(body, sent_blocks(body))
        unread = self.unbound(body)
        after = [seal_of(each.block) for each in sent_blocks(body) if each.is_thought and each not in unread]
        for block in blocks:
            if is_thought(block):
                self._known[seal_of(block)] = Thought(block, before, tuple(after))
                after.append(seal_of(block))
            else:
                before = [*before, ["assistant", _plain(block)]]
        self._answers.append([*blocks])

    def forged(self, body: Json) -> str | None:
        """Refuse thoughts that were never handed out, or otherwise."""
        for each in filter(lambda sent: sent.is_thought, sent_blocks(body)):
            kind = str(each.block["type"])
            if not seal_of(each.block):
                return UNSIGNED.format(each.path)
            known = self._known.get(seal_of(each.block))
            if known is None or known.block != each.block:
                return FORGED.format(each.path, _SEAL[kind], kind)
        return None

    def changed(self, body: Json) -> str | None:
        """Refuse a turn that goes on if an answer in it comes back without its thoughts, or in another order."""
        turn = open_turn(body)
        kinds = [_kind(each.block) for each in turn]
        for answer in self._answers:
            wanted = [_kind(block) for block in answer]
            own = next((place for place, kind in enumerate(kinds) if kind in wanted and kind[0] != "text"), None)
            if own is not None and not any(kinds[at : at + len(wanted)] == wanted for at in range(len(kinds))):
                return CHANGED.format(turn[own].path)
        return None

    def paused_at(self, block: Json) -> bool:
        """Return True if a paused answer ended with this block."""
        return _kind(block) in self._paused

    def unbound(self, body: Json) -> list[Sent]:
        """Return the thoughts of which something that they followed is not there any more as it was."""
        blocks = sent_blocks(body)
        found: list[Sent] = []
        seals: list[str] = []
        for number, each in enumerate(blocks):
            known = self._known.get(seal_of(each.block)) if each.is_thought else None
            if known is None:
                continue
            is_cut = tuple(seals) != known.after[len(known.after) - len(seals) :]
            if is_cut or known.before != _conversation(body, blocks[:number]):
                found.append(each)
            else:
                seals.append(seal_of(each.block))
        return found


def begins_without(body: Json) -> str | None:
    """Refuse a turn that goes on if it does not begin with a thought."""
    turn = open_turn(body)
    return BEGINS.format(turn[0].path, turn[0].block.get("type")) if turn and not turn[0].is_thought else None


def thinks_no_more(body: Json) -> str | None:
    """Refuse thoughts in a turn that goes on without thinking."""
    return next((DISABLED.format(each.path) for each in open_turn(body) if each.is_thought), None)


def ends_with(body: Json) -> str | None:
    """Refuse answers that have nothing after their last thought."""
    for number, message in enumerate(_objects(body.get("messages"))):
        blocks = _objects(message.get("content"))
        if message.get("role") == "assistant" and blocks and is_thought(blocks[-1]):
            return ENDS.format(number)
    return None


def open_turn(body: Json) -> list[Sent]:
    """Return the model's own blocks since a person spoke last, if results of tools came back or the answer goes on."""
    messages = _objects(body.get("messages"))
    start = len(messages)
    while start and not _is_said(messages[start - 1]):
        start -= 1
    return [each for each in sent_blocks(body) if each.message >= start and messages[each.message]["role"] != "user"]


def sent_blocks(body: Json) -> list[Sent]:
    """Return all blocks of a request; a text alone is one."""
    found = []
    for number, message in enumerate(_objects(body.get("messages"))):
        content = message.get("content")
        blocks: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else _objects(content)
        found += [Sent(number, place, block) for place, block in enumerate(blocks)]
    return found


def is_thought(block: Json) -> bool:
    return block.get("type") in _SEAL


def seal_of(block: Json) -> str:
    """Return a thought's signature or data."""
    return str(block.get(_SEAL.get(str(block.get("type")), "")) or "")


def _is_said(message: Json) -> bool:
    """Return True for a person's message: one without results of tools."""
    return message.get("role") == "user" and not any(
        block.get("type") == "tool_result" for block in _objects(message.get("content"))
    )


def _kind(block: Json) -> tuple[str, str]:
    """Return what must be at the same place when the block comes back."""
    kind = str(block.get("type"))
    return kind, seal_of(block) or str(block.get("id") or block.get("text")).strip()


def _conversation(body: Json, blocks: Sequence[Sent]) -> list[JsonValue]:
    """Return instructions, tools and blocks without thoughts and marks for the cache."""
    messages = _objects(body.get("messages"))
    said: list[JsonValue] = [
        [messages[each.message].get("role"), _plain(each.block)] for each in blocks if not each.is_thought
    ]
    return [_plain(body.get("system")), _plain(body.get("tools")), *said]


def _plain(value: JsonValue) -> JsonValue:
    """Return the value without marks for the cache; texts that the model ends with a space may come back without."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if name != "cache_control"}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.rstrip() if isinstance(value, str) else value


def _objects(value: JsonValue) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
