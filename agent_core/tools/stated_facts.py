"""Checks whether a user stated something in the same words; then it is trusted, whatever the model has read.

Half a sentence may say the opposite of the whole: "ask me before you pay Eve" does not state *pay Eve*. Neither does a
sentence beside another one, which may introduce it, quote it or take it back in words that no list foresees. So only a
whole sentence counts, and only if all others in the message are known to leave it as it is: a greeting, thanks, a wish
to look at a page, and, before a sentence of the speaker's own, others that plainly tell of them. A statement that is
not recognised is marked, and nothing worse happens.
"""

import re
from collections.abc import Iterator, Sequence

from agent_core.late_pattern import LatePattern
from agent_core.messages import AgentMessage, UserMessage, text_of

LEAST = 2
"""Minimum characters of a statement; a shorter one could be anybody's."""
_WORD = LatePattern(r"[\w'’.@:/+-]+|\0")
_SAYS = LatePattern(r"[\w\0]")
_WIDE = LatePattern("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FORMS = frozenset({"am", "is", "are", "was", "the", "a", "an", "that"})
"""Words that change, or are left out, when someone else writes a statement down."""
_SPEAKER = frozenset(
    {"i", "i'm", "me", "we", "us", "my", "mine", "our", "我", "ich", "mir", "mich", "mein", "meine", "wir"}
)
"""Words with which speakers name themselves."""
_OTHERS = frozenset({"user", "person", "you", "he", "she", "they", "your", "his", "her", "their", "你", "他", "她"})
"""Words by which someone else names the speaker."""
_VOIDS = LatePattern(
    r"\b(?:wrong|false|untrue|kidding|jok(?:e|es|ing)|opposite|ignore|disregard|forget|lie[sd]?|lying|nonsense|examples?"
    r"|pretend\w*|suppose|imagine|instance|sarcas\w+|irony|ironic\w*|fiction\w*|quot\w+|cit(?:e|ed|ing)|scam|phishing|fake"
    r"|spam|hypothe\w+|test(?:ing|s|ed)?|read(?:s|ing)?|dream\w*|translat\w+|slogan|motto|line|lines|wonder\w*|note"
    r"|said|says|wrote|writes|told|tells|sent|sends|forwarded|got|received|following|follows|below|above|next|previous"
    r"|this|that|these|those|it|so|no|not|never|hack\w*|acting|act|role)\b|n['’]t\b"
    r"|这|那|不|没|别|假|错|开玩笑|说笑|忽略|无视|别当真|不算|反话|例|测试|假设|假如|想象|引用|说|写|念|读|译|梦|话|信|告诉|转发|发来|收到"
    r"|以下|下面|下一|如下|上面|以上|前面",
    re.IGNORECASE,
)
"""Words of a sentence that speaks of those beside it, or of what others said."""
_OWN = LatePattern(r"(?:i|i['’]\w+|my|mine|we|we['’]\w+|our|ich|mein\w*|wir|unser\w*)\b|我|咱", re.IGNORECASE)
"""The beginning of a sentence of the speaker's own."""
_STATES = LatePattern(
    r"(?:i|we)(?:['’](?:m|re|ve)| am| are| (?:also |both |always |often |usually |mostly |really )?"
    r"(?:cook|drink|drive|eat|enjoy|grow|have|like|live|love|meet|need|own|play|prefer|run|study|teach|use|want|work))\b"
    r"|(?:my|our) \w+(?: \w+)? (?:is|are)\b"
    r"|(?:ich (?:arbeite|bin|brauche|esse|habe|heiße|lebe|liebe|mag|trinke|wohne)"
    r"|wir (?:arbeiten|essen|haben|leben|lieben|mögen|sind|wohnen)|(?:mein|unser)\w* \w+ (?:ist|sind))\b"
    r"|我们?(?:是|有|叫|姓|住|喜欢|爱|在|吃|喝|用|需要|工作)|我们?的[^，。]{1,6}(?:是|叫|在)",
    re.IGNORECASE,
)
"""The beginning of a plain statement of the speaker, which says nothing of the sentences behind it."""
_GREETS = LatePattern(
    r"(?:(?:hi|hello|hey|good (?:morning|evening|day)|dear|there|all|parley|ok|okay|please|thanks?|thank you|thx"
    r"|so much|very much|in advance|cheers|bye|goodbye|see you|hallo|guten (?:morgen|tag|abend)|bitte|danke|vielen"
    r"|你好|您好|大家好|早上好|谢谢|多谢|请|再见|好的?|嗨)[\s,.!，。！、-]*)+",
    re.IGNORECASE,
)
"""A whole sentence that asks for nothing."""
_PAGE = r"(?:page|site|website|article|link|url|https?://\S+|网页|页面|网站|文章|链接)"
_LOOKS = LatePattern(
    rf"(?:please )?(?:read|open|see|visit|fetch|check|look at|sum up|summari[sz]e) (?:the )?{_PAGE}(?: {_PAGE})?"
    r"(?: please)?"
    rf"|(?:请|帮我)*(?:读|看|打开|总结)(?:一下|看)?(?:这个|这篇)?{_PAGE}"
    r"|what do you think"
    r"|(?:can|could|will|would) you (?:please )?(?:book|find|search|set|make|show|add|list|order|plan)\b"
    r"(?!.*\b(?:it|this|that|these|those|such|her|him|them|she|he|they)\b).*",
    re.IGNORECASE,
)
"""A whole sentence that wishes for something else, and says nothing of those beside it."""
_FOREIGN = LatePattern(
    r"(?m)```.*?(?:```|\Z)|^[ \t]*>[^\n]*$|`[^`]*`|~~[^~]*~~|<[^<>]*>|^(?: {4}|\t)|(?<!\S)[/.'’:@+-]{2,}(?!\S)|={2,}"
    r"|^[ \t]*(?:[-*+•·–—#]+|\d{1,3}[.)、]|[（(]?[\w一二三四五六七八九十][.)）、])\s"
    r"|\"[^\"]*(?:\"|\Z)|“[^”]*(?:”|\Z)|«[^»]*(?:»|\Z)|‘[^‘’]*(?:’(?!\w)|\Z)|(?<!\w)'[^'\n]*(?:'(?!\w)|\Z)"
    r"|「[^」]*(?:」|\Z)|『[^』]*(?:』|\Z)|《[^》]*(?:》|\Z)|\([^()]*(?:\)|\Z)|（[^）]*(?:）|\Z)|\[[^\]]*(?:\]|\Z)"
    r"|[^\w\s,.;:!?'’/@+&%#$€£°–—…。！？，、；：·*_=-]",
    re.DOTALL,
)
"""Text that the sender may only mention: quotes, code, items of lists, asides, what is crossed out. Every sign that is
not usual in a plain sentence may make a quotation or a joke of it."""
_SHORT = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\bmr)(?<!\bdr)(?<!\bmrs)(?<!\bno)(?<!\betc)(?<!\bsay)(?<!\b\w)"
_END = LatePattern(rf"(?:{_SHORT}\.(?=\s|\Z)|[!?](?=\s|\Z)|[。！？]|\n\s*\n|\Z)", re.IGNORECASE)
"""The end of a sentence: a single line break is none, since lists and wrapped lines go on."""
_ASKS = LatePattern(r"[?？]|[吗呢么]\s*$")
_FRAME = LatePattern(
    r"\s*(?:(?:hi|hello|hey|ok|okay|parley|and|also|well|so|yes|please|fyi|by the way|for the record"
    r"|你好|好的?|请|另外|还有)[\s,，、!！:：-]*)*"
    r"(?:(?:(?:can|could|would|will) you )?(?:please )?(?:remember|memori[sz]e|note|keep in mind|don['’]t forget|know"
    r"|make a note|write down|save|store|learn)(?: (?:down|this|for me|for later))*[\s,:：-]*(?:that\b)?[\s:：]*"
    r"|(?:帮我|给我)?(?:请)?(?:记住|记下来?|记一下|记着|别忘了|不要忘记)[\s,，、:：]*)?",
    re.IGNORECASE,
)
"""What may stand before a statement: a greeting, and the wish that it be remembered."""
_AFTER = LatePattern(
    r"[\s,，、]{0,3}(?:please|thanks|thank you|thx|ok|okay|for me|谢谢|吧|哦|啊)?[\s.。!！]{0,9}\Z", re.IGNORECASE
)


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
    wanted, said = list(_words(statement)), list(_words(sentence))
    retold = [word for word in wanted if word not in _SPEAKER | _OTHERS | names]
    own = [word for word in said if word not in _SPEAKER]
    return sum(map(len, retold)) >= LEAST and (wanted == said or retold == own)


def _stated(text: str) -> Iterator[str]:
    """Yield the sentences that state something, without what frames them."""
    found = list(_sentences(_FOREIGN.sub(" \0 ", text)))
    first = next((place for place, each in enumerate(found) if not _is_aside(each)), len(found))
    last = next((place for place in reversed(range(len(found))) if not _is_aside(found[place])), -1)
    if last < 0 or _ASKS.search(found[last]):
        return
    rest = found[last][_FRAME.match(found[last]).end() :]  # type: ignore[union-attr]  # it matches nothing, too
    before = found[:last]
    if all(map(_greets, before)) or (_OWN.match(rest) and all(map(_is_own, found[first:last]))):
        yield _AFTER.sub("", rest)


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences with their last sign."""
    start = 0
    for end in _END.finditer(text):
        sentence = " ".join(text[start : end.end()].split())
        if _SAYS.search(sentence):  # or it is one more sign at the end of the last one
            yield sentence
        start = end.end()


def _greets(sentence: str) -> bool:
    return _GREETS.fullmatch(sentence) is not None


def _is_aside(sentence: str) -> bool:
    """Return True if it leaves a sentence beside it as it is."""
    return _greets(sentence) or _LOOKS.fullmatch(sentence.rstrip(" .!?。！？")) is not None


def _is_own(sentence: str) -> bool:
    """Return True if the speaker's next sentence is sure to be their own, too."""
    return _is_aside(sentence) or (_STATES.match(sentence) is not None and not _VOIDS.search(sentence))


def _words(text: str) -> Iterator[str]:
    """Yield words in lower case; in scripts without spaces each character is a word."""
    for found in _WORD.finditer(_WIDE.sub(lambda sign: f" {sign[0]} ", text.casefold().replace("用户", " "))):
        word = found[0].strip(".:'’/-")
        if word and word not in _FORMS:
            yield word if len(word) <= LEAST + 1 else word.removesuffix("s")
