"""The manners of models, as one client has learned them from refusals."""

from collections.abc import Iterable, Sequence

import structlog
from msgspec.structs import replace

from agent_core.messages import AssistantMessage, ImageContent, LlmMessage
from agent_core.models.manner import BINDS_THOUGHTS, Manner, known_of, learned, says

log = structlog.get_logger(__name__)

_SPOILT = "|".join(
    (
        # of Anthropic, as in "Invalid `signature` in `thinking` block", and Google, as in "Corrupted thought signature"
        r"\b(?:invalid|corrupt\w*|expired|mismatch\w*)\b[^.:]{0,20}(?:signature|data\W in \Wredacted_thinking)",
        r"signature\b[^.:]{0,40}(?:not valid|invalid|corrupt|expired|mismatch|not match|verif|fail)",
        r"thinking\W* blocks?\b[^.:]{0,60}(?:cannot|can't|must not|may not) be (?:modified|changed)",
        # of OpenAI and OpenRouter, as in "The encrypted content for item rs_1 could not be verified"
        r"encrypted[_ ]content\b.{0,80}(?:verif|decrypt|invalid|not valid)",
    )
)
"""Refusals of the thoughts of one conversation, for what is in them."""
_NO_FIELD = (
    r"extra inputs|extra_forbidden|propert(?:y|ies)|\b(?:unknown|unrecogni[sz]ed|unsupported) |cannot find field"
)
_NO_PICTURES = (
    # OpenRouter: "No endpoints found that support image input"; LM Studio, Ollama: "does not support images"
    r"(?:\bnot?\b|n't\b|\bmissing\b)[^.]{0,60}\b(?:images?|image_url|pictures?|vision|multi-?modal)\b"
    # OpenAI: "image_url is only supported by certain models"; xAI, llama.cpp: "image input is not supported"
    r"|\b(?:images?|image_url|pictures?|vision)\b[^.]{0,40}(?:\bnot\b|unsupported|only supported|certain models)"
    # DeepSeek of an unknown variant `image_url`; vLLM, which says "at most 0 image(s)"; Groq; Zhipu
    r"|unknown variant \W?image_url|at most 0 image|\bcontent\W{1,3}must be a string|取值范围 ?\W*text"
    r"|(?:不支持|不能|无法)[^。]{0,8}(?:图片|图像)|(?:图片|图像)[^。]{0,8}不支持"
)
"""Refusals of a picture; that it is too large or cannot be read is told in other words."""
_OF_ONE_PICTURE = (
    r"\b(?:too (?:large|big|small)|exceed\w*|corrupt\w*|decod\w*|download\w*|process\w*|media[_ ]type|formats?|base64"
    r"|dimensions?|pixels|safety)\b"
)
_MOST_REFUSED = 10_000
"""Answers of one model that are remembered for their refused thoughts."""


class Manners:
    """Remembers the manner of each model that a client asks, and which conversations go to it without thoughts."""

    def __init__(self) -> None:
        self._by_model: dict[str, Manner] = {}
        self._refused: dict[str, dict[str, None]] = {}
        """Ids of answers, oldest first: a conversation with one of them goes to its model without thoughts."""

    def of(self, model: str, messages: Sequence[LlmMessage] = ()) -> Manner:
        """Return the manner in which a model takes its requests, and this conversation."""
        manner = self._by_model.get(model)
        if manner is None:
            manner = self._by_model[model] = known_of(model)
        refused = self._refused.get(model)
        if refused and any(message.id in refused for message in messages):
            return replace(manner, bare=True)
        return manner

    def learn(self, model: str, refusal: str, sent: Iterable[str], messages: Sequence[LlmMessage] = ()) -> bool:
        """Learn from the words with which a request was refused; True if it can be sent again in another way."""
        if not refusal:
            return False
        manner = self.of(model)
        if _refuses_thoughts(manner, refusal):
            return self._refuse_thoughts(model, messages)
        taught = _without_pictures(manner, refusal, messages) or learned(manner, refusal, sent)
        if taught is not None:
            log.info("a model's server takes requests in another way", model=model, manner=taught)
            self._by_model[model] = taught
        return taught is not None

    def _refuse_thoughts(self, model: str, messages: Sequence[LlmMessage]) -> bool:
        """Mark a conversation by its last answer: what it had in common with others before may be right in those."""
        answers = [message.id for message in messages if isinstance(message, AssistantMessage)]
        if not answers or self.of(model, messages).bare:
            return False
        refused = self._refused.setdefault(model, {})
        refused[answers[-1]] = None
        if len(refused) > _MOST_REFUSED:
            del refused[next(iter(refused))]
        log.info("a model's server refused the thoughts of a conversation", model=model, answer=answers[-1])
        return True


def _without_pictures(manner: Manner, said: str, messages: Sequence[LlmMessage]) -> Manner | None:
    """Return the manner without pictures if a server refuses those of a conversation, whatever they show."""
    has_pictures = any(isinstance(part, ImageContent) for message in messages for part in message.content)
    if manner.takes_no_pictures or not has_pictures:
        return None
    text = " ".join(said.split())
    is_refused = says(_NO_PICTURES, text) and not says(_OF_ONE_PICTURE, text)
    return replace(manner, takes_no_pictures=True) if is_refused else None


def _refuses_thoughts(manner: Manner, said: str) -> bool:
    """Return True if a server takes thoughts back, but not those that were sent."""
    text = " ".join(said.split())
    if says(BINDS_THOUGHTS, text):
        return manner.drops_thoughts
    return says(_SPOILT, text) and not says(_NO_FIELD, text)
