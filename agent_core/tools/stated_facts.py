"""Checks whether a user stated something in the same words; then it is trusted, whatever the model has read.

Half a sentence may say the opposite of the whole: "ask me before you pay Eve" does not state *pay Eve*. So only whole
sentences count, those at the beginning of a message: as long as the ones before are a greeting or of the speaker, since
any other may introduce what somebody else wants, and only if nothing later takes them back. A statement that is not
recognised is marked, and nothing worse happens.
"""

import re
from collections.abc import Iterator, Sequence

from agent_core.messages import AgentMessage, UserMessage, text_of

LEAST = 2
"""Minimum characters of a statement; a shorter one could be anybody's."""
_WORD = re.compile(r"[\w'’.@:/+-]+|\0")
_SAYS = re.compile(r"[\w\0]")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEFT_OUT = frozenset(
    {"i", "i'm", "me", "we", "us", "you", "he", "she", "they", "my", "mine", "our", "your", "his", "her", "their"}
    | {"am", "is", "are", "was", "the", "a", "an", "user", "person", "that", "我", "你", "他", "她"}
)
"""Words for the speaker, which change when someone else writes the statement down."""
_NOT = frozenset(
    {"not", "no", "never", "don't", "doesn't", "dont", "isn't", "aren't", "can't", "cannot", "won't", "without", "nope"}
    | {"不", "没", "别", "无", "非"}
)
_TAKES_BACK = 4
"""Most words of a sentence that takes back those before it by one of these: "No, don't."."""
_VOIDS = re.compile(
    r"\b(?:wrong|false|untrue|kidding|jok(?:e|es|ing)|opposite|ignore|disregard|forget|lie[sd]?|lying|nonsense|examples?"
    r"|pretend\w*|suppose|imagine|instance|sarcas\w+|irony|ironic\w*|fiction\w*|quot\w+|cit(?:e|ed|ing)|scam|phishing|fake"
    r"|spam|hypothe\w+|test(?:ing|s|ed)?|tak(?:e|ing) (?:it|that|this) back|mean it|meant it|serious\w*"
    r"|said|says|wrote|writes|told|tells|sent|sends|forwarded|got|received|following|follows|below|above|next|previous)\b"
    r"|假|错|开玩笑|说笑|忽略|无视|别当真|不算|反话|例|测试|假设|假如|想象|引用|说|写|告诉|转发|发来|收到|以下|下面|下一|如下|上面|以上|前面",
    re.IGNORECASE,
)
"""Words of a sentence that speaks of those beside it, or of what others said."""
_ADDRESS = re.compile(r"\S+://\S+")
_POINTS_BACK = re.compile(r"(?:(?:that|this|it|these|those|all that)\b|那|这|它)", re.IGNORECASE)
_OWN = re.compile(
    r"(?:i|i['’]\w+|my|mine|we|we['’]\w+|our)\b|我|咱"
    r"|(?:please )?(?:read|open|look|check|see|remind|set|find|search|make|create|send|show|use|add|run|list|book)\b"
    r"(?!.*\b(?:this|these|that|here)\b)|(?:请)?(?:帮我|给我|读|看|打开|查|提醒|设|找|搜|订)(?!.*[这那])",
    re.IGNORECASE,
)
"""The beginning of a sentence of the speaker's own, or of one that asks Parley to do something."""
_FOREIGN = re.compile(
    r"(?m)```.*?(?:```|\Z)|^[ \t]*>[^\n]*$|`[^`]*`|~~[^~]*~~|<[^<>]*>"
    r"|^[ \t]*(?:[-*+•·–—#]+|\d{1,3}[.)、]|[（(]?[\w一二三四五六七八九十][.)）、])\s"
    r"|\"[^\"]*(?:\"|\Z)|“[^”]*(?:”|\Z)|«[^»]*(?:»|\Z)|‘[^‘’]*(?:’(?!\w)|\Z)|(?<!\w)'[^'\n]*(?:'(?!\w)|\Z)"
    r"|「[^」]*(?:」|\Z)|『[^』]*(?:』|\Z)|《[^》]*(?:》|\Z)|\([^()]*(?:\)|\Z)|（[^）]*(?:）|\Z)|\[[^\]]*(?:\]|\Z)"
    r"|[`~<>\"“”«»「」『』《》()（）\[\]]|[❌✗✘🚫⛔🙅👎🙃😉😜]",
    re.DOTALL,
)
"""Text that the sender may only mention: quotes, code, items of lists, asides, what is crossed out."""
_SHORT = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\bmr)(?<!\bdr)(?<!\bmrs)(?<!\bno)(?<!\betc)(?<!\bsay)(?<!\b\w)"
_END = re.compile(rf"(?:{_SHORT}\.(?=\s|\Z)|[!?](?=\s|\Z)|[。！？]|\n\s*\n|\Z)", re.IGNORECASE)
"""The end of a sentence: a single line break is none, since lists and wrapped lines go on."""
_ASKS = re.compile(r"[?？]|[吗呢么]\s*$")
_FRAME = re.compile(
    r"\s*(?:(?:hi|hello|hey|ok|okay|parley|and|also|well|so|yes|please|fyi|by the way|for the record"
    r"|你好|好的?|请|另外|还有)[\s,，、!！:：-]*)*"
    r"(?:(?:(?:can|could|would|will) you )?(?:please )?(?:remember|memori[sz]e|note|keep in mind|don['’]t forget|know"
    r"|make a note|write down|save|store|learn)(?: (?:down|this|for me|for later))*[\s,:：-]*(?:that\b)?[\s:：]*"
    r"|(?:帮我|给我)?(?:请)?(?:记住|记下来?|记一下|记着|别忘了|不要忘记)[\s,，、:：]*)?",
    re.IGNORECASE,
)
"""What may stand before a statement: a greeting, and the wish that it be remembered."""
_AFTER = re.compile(
    r"[\s,，、]{0,3}(?:please|thanks|thank you|thx|ok|okay|for me|谢谢|吧|哦|啊)?[\s.。!！]{0,9}\Z", re.IGNORECASE
)
_WHOLE = re.compile(r"[.!?。！？]\Z")
_COLON = re.compile(r"[:：](?!//|\d)")


def is_said(statement: str, messages: Sequence[AgentMessage]) -> bool:
    """Return True if it is a whole sentence of a user in these messages; "I like tea" states `likes tea`."""
    return any(is_same(statement, sentence, speaker) for sentence, speaker in sentences(messages))


def sentences(messages: Sequence[AgentMessage]) -> Iterator[tuple[str, str]]:
    """Yield the sentences that users stated in these messages, each with the name of its speaker."""
    for message in messages:
        if isinstance(message, UserMessage) and message.is_trusted:
            for sentence in _stated(text_of(message.content)):
                yield sentence, message.source or ""


def is_same(statement: str, sentence: str, speaker: str) -> bool:
    """Return True if the statement has the words of the sentence, which may name its speaker otherwise."""
    names = {word.casefold() for word in _WORD.findall(speaker)}
    wanted, said = ([word for word in _words(text) if word not in names] for text in (statement, sentence))
    return sum(map(len, wanted)) >= LEAST and wanted == said


def _stated(text: str) -> Iterator[str]:
    """Yield the sentences that state something, without what frames them."""
    found = list(_sentences(_FOREIGN.sub(" \0 ", text)))
    taken_back = max((place for place, sentence in enumerate(found) if _takes_back(sentence)), default=0)
    for place, sentence in enumerate(found):
        rest = sentence[_FRAME.match(sentence).end() :]  # type: ignore[union-attr]  # it matches nothing, too
        if place >= taken_back and not _ASKS.search(sentence):
            yield _AFTER.sub("", rest)
        if _introduces(sentence, rest):
            return


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences with their last sign."""
    start = 0
    for end in _END.finditer(text):
        sentence = " ".join(text[start : end.end()].split())
        if _SAYS.search(sentence):  # or it is one more sign at the end of the last one
            yield sentence
        start = end.end()


def _introduces(sentence: str, rest: str) -> bool:
    """Return True unless the next sentence is sure to be the speaker's own, too; `rest` is without what frames it."""
    if _COLON.search(rest) or not _WHOLE.search(sentence):
        return True
    is_greeting = not _SAYS.search(rest)
    return not is_greeting and (_voids(sentence) or not _OWN.match(rest))


def _takes_back(sentence: str) -> bool:
    """Return True if it may take back a sentence before it."""
    words = list(_words(sentence))
    is_short = len(words) <= _TAKES_BACK
    points = _POINTS_BACK.match(sentence) is not None or _voids(sentence)
    return points or (is_short and not _NOT.isdisjoint(words))


def _voids(sentence: str) -> bool:
    return _VOIDS.search(_ADDRESS.sub(" ", sentence)) is not None


def _words(text: str) -> Iterator[str]:
    """Yield words in lower case; in scripts without spaces each character is a word."""
    for found in _WORD.finditer(_WIDE.sub(lambda sign: f" {sign[0]} ", text.casefold().replace("用户", " "))):
        word = found[0].strip(".:'’/-")
        if word and word not in _LEFT_OUT:
            yield word if word in _NOT or len(word) <= LEAST + 1 else word.removesuffix("s")
