"""The usual chunk of a streamed answer: words, in the shape that servers follow for nearly all of them."""

_OF_CHUNK = frozenset({"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier"})
_OF_CHOICE = frozenset({"index", "logprobs", "finish_reason"})
_OF_DELTA = frozenset({"role"})
"""The fields that a usual chunk may have beside the words. In any other chunk everything has to be looked at."""


def usual_words(value: object) -> str | None:
    """Return the words of a usual chunk of the first choice; None for all other chunks."""
    if type(value) is dict and value.keys() <= _OF_CHUNK and value.get("usage") is None:
        match value.get("choices"):
            case [{"delta": {"content": str(text), **others}, **beside}]:
                usual = others.keys() <= _OF_DELTA and beside.keys() <= _OF_CHOICE and not beside.get("finish_reason")
                if usual and type(index := beside.get("index")) is int and index == 0:
                    return text
    return None
