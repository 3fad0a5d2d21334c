"""Values of any shape, and fields that may stand beside the words of an answer."""

from hypothesis import strategies as st
from pydantic import JsonValue

anything: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NEEDED = ("content", "text", "choices", "delta", "message", "finish_reason", "error", "tool_calls", "object", "refusal")
COMMON = (
    *("usage", "reasoning", "reasoning_content", "reasoning_details", "extra_content", "provider_specific_fields"),
    *("role", "id", "created", "model", "system_fingerprint", "logprobs", "index", "annotations", "audio"),
)
names = st.sampled_from(COMMON) | st.text(max_size=6).filter(lambda name: name not in NEEDED)
beside = st.dictionaries(names, anything, max_size=4)
