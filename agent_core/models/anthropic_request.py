"""What a request to Anthropic has of its own, written in the form that litellm takes: marks for the cache, thinking."""

from agent_core.models.llm import ModelInfo
from agent_core.models.openai_wire import WireObject


def may_think(model: ModelInfo, messages: list[WireObject]) -> bool:
    """Return False after calls of another model: Anthropic's older models think only if they have thought before."""
    before: WireObject = next((each for each in reversed(messages) if each["role"] != "tool"), {})
    return model.adaptive or before.get("role") != "assistant" or "thinking_blocks" in before


def mark_for_cache(messages: list[WireObject]) -> None:
    """Set Anthropic's cache marks: one after the system prompt, one after the last message."""
    if not messages:
        return
    mark: WireObject = {"cache_control": {"type": "ephemeral"}}
    first, last = messages[0], messages[-1]
    if first["role"] == "system":
        first["content"] = [{"type": "text", "text": first["content"], **mark}]
    if last["role"] == "tool":
        last |= mark
    elif last["role"] == "user" and isinstance(last["content"], str) and last["content"]:
        last["content"] = [{"type": "text", "text": last["content"], **mark}]
