"""The usual chunk of a streamed answer: words, in the shape that servers follow for nearly all of them."""

_OF_CHUNK = frozenset({"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier"})
_OF_CHOICE = frozenset({"delta", "index", "logprobs", "finish_reason"})
_OF_DELTA = frozenset({"content", "role"})
"""The fields that a usual chunk may have. In any other chunk everything has to be looked at."""


def usual_words(value: object) -> str | None:
    """Return the words of a usual chunk of the first choice; None for all other chunks."""
    # Without patterns, which copy what stands beside the words: this is done for each piece of an answer.
    if type(value) is not dict or not value.keys() <= _OF_CHUNK or value.get("usage") is not None:
        return None
    choices = value.get("choices")
    choice = choices[0] if type(choices) is list and len(choices) == 1 else None
    if type(choice) is not dict or not choice.keys() <= _OF_CHOICE or choice.get("finish_reason"):
        return None
    delta, index = choice.get("delta"), choice.get("index")
    if type(delta) is not dict or not delta.keys() <= _OF_DELTA or type(index) is not int or index != 0:
        return None
    text = delta.get("content")
    return text if type(text) is str else None
