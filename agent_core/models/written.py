"""Reasoning and tool calls that a model writes as text: told apart from the words of the answer while they stream in.

A block of reasoning at the beginning, or everything before a closing tag that stands alone, is reasoning. What follows
the mark of a call is held back to the end. What stands in code, and words about such tags, stays as it is.
"""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from agent_core.late_pattern import LatePattern
from agent_core.models.bare_channels import ANY_END, CALL, ENDS, FINAL, mark_of, may_be_mark
from agent_core.models.written_calls import TAGS, TOKENS

_NAMES = (
    *(
        "think",
        "thinking",
        "thought",
        "thoughts",
        "reasoning",
        "reasoning_content",
        "thought_process",
        "chain_of_thought",
    ),
    *("scratchpad", "inner_monologue", "seed:think", "mm:think", "longcat_think", "antThinking", "antml:thinking"),
)
_BLOCKS = {
    **{f"<{each}>": f"</{each}>" for name in _NAMES for each in (name, name.capitalize(), name.upper())},
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|thinking|>": "<|/thinking|>",
    "<|think|>": "<|/think|>",
    "<unused94>thought\n": "<unused95>",
    "Here are my reasoning steps:\n": "[BEGIN FINAL RESPONSE]",
    "Here is my thought process:\n": "Here is my response:\n",
    "<|channel>thought\n": "<channel|>",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|start|>assistant<|channel|>analysis<|message|>": "<|end|>",
}
"""The tags around reasoning."""
_IN_WORDS = ("<|end|>", "Here is my response:\n")
"""Ends of reasoning that end none if they stand alone."""
_SENTENCES = ("Here are my reasoning steps:\n", "Here is my thought process:\n", "Here is my response:\n")
"""Marks that are usual words anywhere but around reasoning at the beginning."""
_CLOSERS = tuple(dict.fromkeys((FINAL, *(close for close in _BLOCKS.values() if close not in _IN_WORDS))))
_FINALS = (
    *("<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>", "<|START_RESPONSE|>"),
    *("<|begin_of_solution|>", "<|assistant|>", "<|im_start|>assistant\n", "<bos>"),
)
"""Marks that models write before their answers, such as those of gpt-oss and Cohere."""
_ENDS = (
    *(
        "<|return|>",
        "<|END_RESPONSE|>",
        "<|im_end|>",
        "<|eot_id|>",
        "<|end|>",
        "<｜end▁of▁sentence｜>",
        "<|endoftext|>",
    ),
    *("<|end_of_text|>", "<|eom_id|>", "<|eot|>", "<end_of_turn>", "<|end_of_turn|>", "<turn|>", "<eos>", "<|user|>"),
    *("<|observation|>", "<|end_of_solution|>", "[END FINAL RESPONSE]"),
)
"""What models write after their answers."""
_AROUND = {f"<{name}>": f"</{name}>" for name in ("answer", "response", "final", "final_answer", "solution", "output")}
"""Tags around an answer that follows reasoning."""
_LITERALS = tuple(
    each
    for each in (*_BLOCKS, *_CLOSERS, *TAGS, *TOKENS, *_FINALS, *_ENDS, *_AROUND, *_AROUND.values())
    if each not in _SENTENCES
)
_LONGEST = max(map(len, _LITERALS))
_BY_FIRST = {each[0]: tuple(literal for literal in _LITERALS if literal[0] == each[0]) for each in _LITERALS}
_FIRST_OF_BLOCKS = frozenset((*(literal[0] for literal in (*_BLOCKS, *_FINALS)), *"ac"))
_TOKEN = LatePattern("|".join((r"\n", "``*", "~~~~*", *map(re.escape, sorted(_LITERALS, key=len, reverse=True)))))
_MARK = LatePattern(f"[\n`~{re.escape(''.join(sorted(_BY_FIRST.keys() - {'a'})))}]|assistant|a[asint]{{0,7}}\\Z")
"""Finds what may begin a token: its first character, or `assistant`, of which the end of a piece may hold a part."""
_MOST_BLANK = 200
"""Blank characters that are held back at the beginning, where a tag may follow them."""
_SENTENCE_ENDS = frozenset(".!?…。！？\n")
"""The characters behind which a channel of gpt-oss may begin; a word such as `assistantfinal` stands anywhere."""
_FENCE = 3
"""Signs that open or close a block of code."""


class Piece(Struct, frozen=True):
    """A piece of the answer. `before` says that all text before it was reasoning."""

    kind: Literal["text", "thinking", "before"]
    text: str = ""


class WrittenText:
    """Sorts the text of one answer; `calls` is False if the model has no tools."""

    def __init__(self, *, calls: bool) -> None:
        self._has_tools = calls
        self._state: Literal["start", "thinking", "text", "held"] = "start"
        self._waiting = ""
        """The end of what came, which may be the beginning of a tag."""
        self._opener = ""
        self._held: list[str] = []
        self._was_opened = False
        """True once there was a tag that opens reasoning: a closing one does not stand alone any more."""
        self._wrapped = ""
        """The tag that ends the answer."""
        self._line = _Line()

    @property
    def unclosed(self) -> str:
        """Return the tag that opened a block of reasoning which was not closed, else an empty text."""
        return self._opener if self._state == "thinking" else ""

    @property
    def held(self) -> str:
        """Return the text from the first mark of a call on."""
        return "".join(self._held)

    def passes(self, text: str) -> bool:
        """Go on after a piece of the answer that has no mark in it, as most have none. Returns False for all others."""
        is_plain = self._state == "text" and not self._waiting and not _MARK.search(text)
        if is_plain:
            self._line.add(text)
        return is_plain

    def feed(self, text: str, *, is_last: bool = False) -> Iterator[Piece]:
        """Yield what can be told apart; consume it all."""
        if text and self.passes(text):
            yield Piece("text", text)
            return
        self._waiting += text
        before = None
        while self._waiting and before != (self._state, len(self._waiting)):
            before = self._state, len(self._waiting)
            match self._state:
                case "start":
                    yield from self._begin(is_last=is_last)
                case "thinking":
                    yield from self._think(is_last=is_last)
                case "text":
                    yield from self._say(is_last=is_last)
                case "held":
                    self._held.append(self._waiting)
                    self._waiting = ""

    def _begin(self, *, is_last: bool) -> Iterator[Piece]:
        bare = self._waiting.lstrip()
        if len(self._waiting) - len(bare) > _MOST_BLANK:
            self._state = "text"
            return
        if not bare and not is_last:
            return
        if bare and bare[0] not in _FIRST_OF_BLOCKS:  # as of nearly all answers
            self._state = "text"
            self._waiting = bare if self._was_opened else self._waiting
            return
        if self._begins_channel(bare, is_last=is_last):
            return
        opener = next((each for each in _BLOCKS if bare.startswith(each)), None)
        if opener is not None:
            self._state, self._opener, self._waiting = "thinking", opener, bare[len(opener) :]
            self._was_opened = True
        elif bare.startswith(_FINALS):
            self._waiting = bare[max(len(each) for each in _FINALS if bare.startswith(each)) :]
        elif self._was_opened and (tag := next((each for each in _AROUND if bare.startswith(each)), None)):
            self._wrapped, self._waiting = _AROUND[tag], bare[len(tag) :]
        elif is_last or not any(each.startswith(bare) for each in (*_BLOCKS, *_FINALS, *_AROUND)):
            self._state = "text"
            self._waiting = bare if self._was_opened else self._waiting
        yield from ()

    def _begins_channel(self, bare: str, *, is_last: bool) -> bool:
        """Go on after the mark of a channel of gpt-oss. Returns False if there is none, and none is to come."""
        if not is_last and may_be_mark(bare):
            return True
        mark = mark_of(bare)
        if mark is None:
            return False
        self._waiting, self._was_opened = bare[len(mark.literal) :], True
        if mark.is_reasoning:
            self._state, self._opener = "thinking", mark.literal
        elif mark.is_call:
            self._state, self._waiting = ("held", CALL + self._waiting) if self._has_tools else ("text", bare)
        return True

    def _think(self, *, is_last: bool) -> Iterator[Piece]:
        text = self._waiting
        close = _BLOCKS.get(self._opener)
        found = ANY_END.search(text) if close is None else None
        end = found.start() if found else text.find(close) if close else -1
        if end >= 0:
            self._state, self._waiting = "start", text[end + len(close or "") :]
        else:
            held = 0 if is_last else max(_overlap(text, each) for each in ((close,) if close else ENDS))
            end = len(text) - held
            self._waiting = text[end:]
        if end:
            yield Piece("thinking", text[:end])

    def _say(self, *, is_last: bool) -> Iterator[Piece]:
        text = self._waiting
        end = len(text) if is_last else len(text) - _partial(text)
        place = 0
        while found := _TOKEN.search(text, place, end):
            token, after = found[0], text[found.end() : found.end() + 1]
            if token in _CLOSERS and not after and not is_last:
                end = found.start()  # what follows it decides
                break
            if (token in _ENDS or token == self._wrapped) and not (self._line.is_code or text[found.end() :].strip()):
                end = found.start()
                text = text[:end] if is_last else text
                break
            self._line.add(text[place : found.start()])
            if self._ends_reasoning(token, after) or self._begins_call(token):
                if place or found.start():
                    yield Piece("text", text[: found.start()])
                yield from self._turn(token, text[found.end() :])
                return
            self._was_opened |= token in _BLOCKS and not self._line.is_code
            self._line.add(token)
            place = found.end()
        self._line.add(text[place:end])
        self._waiting = text[end:]
        if end:
            yield Piece("text", text[:end])

    def _turn(self, token: str, rest: str) -> Iterator[Piece]:
        """Go on after the end of reasoning, or hold back a call."""
        if token in _CLOSERS:
            self._state, self._waiting, self._was_opened = "start", rest, True
            yield Piece("before")
        else:
            if token == CALL and not self._was_opened:
                yield Piece("before")
            self._state, self._waiting = "held", token + rest

    def _ends_reasoning(self, token: str, after: str) -> bool:
        """Return True for a closing tag that stands alone, or a final channel, and not as a word in a sentence."""
        if token == FINAL:
            return not self._line.is_code and self._line.last in _SENTENCE_ENDS and _begins_sentence(after)
        if token not in _CLOSERS or self._was_opened or self._line.is_code:
            return False
        return after not in (" ", "\t") if self._line.is_blank else not self._line.last.isspace()

    def _begins_call(self, token: str) -> bool:
        if not self._has_tools or self._line.is_code:
            return False
        if token == CALL:
            return self._line.last in _SENTENCE_ENDS
        return token in TOKENS or (token in TAGS and self._line.is_blank)


class _Line:
    """The place in the text: what stands before it in its line, and whether it is in code."""

    def __init__(self) -> None:
        self.last = "\n"
        """The character before."""
        self.is_blank = True
        self._is_quoted = False
        self._fence = ""

    @property
    def is_code(self) -> bool:
        return self._is_quoted or bool(self._fence)

    def add(self, text: str) -> None:
        """Go on after a text without tokens, or one token."""
        if not text:
            return
        if text == "\n":
            self._is_quoted, self.is_blank = False, True
        elif text[0] in "`~" and text == text[0] * len(text):
            self._mark(text)
        else:
            self.is_blank = self.is_blank and text.isspace()
        self.last = text[-1]

    def _mark(self, signs: str) -> None:
        if len(signs) >= _FENCE and self.is_blank:
            if not self._fence:
                self._fence = signs
            elif signs.startswith(self._fence):
                self._fence = ""
        elif signs[0] == "`" and not self._fence:
            self._is_quoted = not self._is_quoted
        self.is_blank = False


def _begins_sentence(letter: str) -> bool:
    return letter.isupper() or letter.isdigit() or letter in ("*", "#") or (letter.isalpha() and not letter.isascii())


def _overlap(text: str, token: str) -> int:
    """Return how many characters at the end of the text begin the token."""
    return max(size for size in range(len(token)) if text.endswith(token[:size]))


def _partial(text: str) -> int:
    """Return how many characters at the end may be the beginning of a token."""
    signs = len(text) - len(text.rstrip(text[-1])) if text and text[-1] in "`~" else 0
    for place in range(max(0, len(text) - _LONGEST), len(text)):
        if any(each.startswith(text[place:]) for each in _BY_FIRST.get(text[place], ())):
            return len(text) - place
    return signs if signs < _LONGEST else 0
