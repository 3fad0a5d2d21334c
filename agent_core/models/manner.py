"""The form in which the server of a model takes requests, learned from what it refuses and kept for the next ones."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from agent_core.models.plain_schema import wants_plain_schemas

TOOLS = "tools"
LIMIT, NEWER_LIMIT = "max_tokens", "max_completion_tokens"
REFUSED = frozenset({400, 404, 422, 500, 501})
"""Statuses with which servers refuse a parameter."""

_NEEDED = frozenset({"model", "messages", "stream", "api_key", "api_base", "timeout"})
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "reasoning_effort": (
        *("reasoning_effort", "reasoning.effort", "thinking", "think", "thinking_budget", "output_config", "effort"),
    ),
    LIMIT: (LIMIT, "max_new_tokens"),
    "thinking": ("thinking", "budget_tokens"),
    "stream_options": ("stream_options", "include_usage"),
}
"""What servers call a parameter in their errors, if not only by its name."""
_REFUSES = (
    r"unsupported|not? (?:currently )?support|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)"
    r"|extra_forbidden|not (?:permitted|allowed|accepted|available|a valid)|invalid|deprecated|only .{0,40}allowed"
    r"|cannot find field|may only|must be|no longer|disallowed|too large|at most|should be|is not valid|out of range"
    r"|the maximum allowed"
    r"|cannot (?:both )?be (?:specified|used|set|combined)|不支持|不合法|不能|无效|非法|错误"
)
_NO_TOOLS = "|".join(
    (
        # Ollama, DeepSeek: "gemma:2b does not support tools", "does not support Function Calling"
        r"(?:not|n't|un)[ -]?support\w* (?:the )?(?:tools?|functions?)(?:[ _](?:use|calls?|calling))?\b(?![.\[]\d)",
        # Groq, Gemini: "`tool calling` is not supported with this model", "Function calling is not enabled for"
        r"\b(?:tools?[ _](?:use|calls?|calling)|functions?[ _]call(?:s|ing)?|tools)[`'\"]? (?:is|are) (?:currently )?"
        r"(?:not (?:supported|enabled|available|allowed)|unsupported)",
        # vLLM, llama.cpp, OpenRouter
        r"enable-auto-tool-choice|tools param requires|no endpoints found that support tool",
        r"不支持(?:使用)?(?:工具|函数)(?:调用)?",
        # as an unknown parameter: OpenAI, Google, Groq, servers made with FastAPI
        r"(?:unrecogni[sz]ed|unknown|unsupported|unexpected)[^.]{0,60}['\"`: ]tools\b(?![.\[]\d)",
        r"property ['\"`]tools['\"`] is|\btools: extra inputs|\[\"body\", ?\"tools\"\]",
    )
)
_OF_A_TOOL = r"schema|\bfunction '|tools[\[.]\d|function_?declarations"
"""A refusal of one tool names it, and may name parameters of it."""
_WANTS_REASONING = r"reasoning_content.{0,120}(?:missing|must be passed|required)|missing.{0,60}reasoning_content"
_WANTS_SIGNATURES = r"missing.{0,20}thought_?signature|thought_?signature.{0,60}(?:missing|required)"
_WANTS_SHORT_IDS = (
    # Mistral; OpenAI, of the id of a call: "string too long"
    r"tool call id.{0,200}length of 9|tool_calls?\[\d+\]\.id\b.{0,40}(?:too long|pattern)|tool_call_id\b.{0,40}too long"
    # Anthropic, Bedrock: "messages.1.content.1.tool_use.id: String should match pattern"
    r"|tool_use(?:\.id|_id)\b.{0,40}pattern|tooluseid\b.{0,90}(?:pattern|length)"
)
_WANTS_AN_ANSWER = r"unexpected role .?user.? after role .?tool"
_WANTS_THOUGHTS = r"expected `?thinking`?"
_NOT = r"(?:\bnot\b|n't\b|\b(?:unsupported|unknown|unexpected|invalid|illegal|disallowed)\b)"


def _refuses_role(role: str) -> str:
    """Return the pattern of sentences with which chat templates and servers refuse messages of a role."""
    named = rf"['\"`]?\b(?:{role})\b['\"`]?"
    message = "(?:roles?|prompts?|messages?|instructions?)"
    return (
        # Gemma's template: "System role not supported"; Google: "Developer instruction is not enabled for"
        rf"{named} {message}\b[^.]{{0,40}}{_NOT}|{_NOT}[^.]{{0,30}}{named} {message}\b"
        # OpenAI's o1-mini: "'messages[0].role' does not support 'system'"; Baichuan: "role not supported yet: system"
        rf"|\broles?\b[^.]{{0,20}}{_NOT} (?:\w+ ){{0,2}}?(?:support\w*|yet)[^.]{{0,8}}{named}"
        # Anthropic: "role 'system' is not supported"; "Unexpected role 'system'"; a list of the roles that are known
        rf"|\broles?:? ?{named}[^.]{{0,30}}{_NOT}|{_NOT} (?:message )?role:? ?{named}(?! after)|{named} is not one of"
        rf"|不支持.{{0,8}}(?:{role})|(?:{role}).{{0,12}}(?:不支持|不合法|无效)"
    )


_NO_SYSTEM = _refuses_role("system|developer")
_NO_RESULTS = _refuses_role("tool|function")
_ORDER = (
    # templates of Gemma, Llama and Mistral: "Conversation roles must alternate"; DeepSeek, Perplexity, Anthropic
    r"\b(?:roles?|messages?|turns?)\b[^.]{0,60}\b(?:alternat(?:e|es|ing|ion)|interleav\w+)\b"
    r"|\b(?:successive|consecutive) (?:user|assistant|messages?|roles?)|\bunexpected role .{0,20} after role\b"
    # Baidu, Bedrock: "the role of first message must be user", "A conversation must start with a user message"
    r"|\b(?:first|even|odd)\b[^.]{0,60} must (?:be|have|use)[^.]{0,20}\b(?:user|assistant)\b"
    r"|\bmust (?:start|begin) with a user"
)
_TWO_ROLES = r"\bonly (?:the )?user and assistant roles|should be 'user' or 'assistant'"
"""Templates and servers that know no other roles."""
BINDS_THOUGHTS = r"bound to a different conversation|prefix_mismatch_behavior"
_PRIVATE = (
    r"reasoning_content|reasoning_details|reasoning_text|'reasoning'|\]?\.reasoning\b|extra_content|thinking_blocks"
    r"|provider_specific_fields|signature"
)
_IN_MESSAGES = r"messages?\W{1,2}\d|\"assistant\"|role:assistant"


class Manner(Struct, frozen=True, dict=True):
    """The form of requests learned for one model."""

    left_out: frozenset[str] = frozenset()
    """Parameters that its server does not take."""
    newer_limit: bool = False
    """It calls the limit of an answer `max_completion_tokens`."""
    fills_reasoning: bool = False
    """It wants reasoning with each call, in answers of other models too."""
    fills_signatures: bool = False
    """It wants a signature of Gemini's on the first call of each answer."""
    short_ids: bool = False
    """It takes only ids of nine letters and digits."""
    answers_results: bool = False
    """It takes no user message directly after the result of a tool."""
    drops_thoughts: bool = False
    """It refuses thoughts after an earlier message has changed, except if it is told to leave them out."""
    bare: bool = False
    """It does not take back what it hands out, or not in this conversation."""
    heads_with_system: bool = False
    """It takes no system prompt; the first message begins with it."""
    alternates: bool = False
    """It takes no two messages of one role in a row."""
    takes_no_pictures: bool = False
    plain_schemas: bool = False
    """It takes the schemas of tools only as `plain_schema` writes them."""

    @cached_property
    def rearranges(self) -> bool:
        """Return True if messages cannot be sent one by one as they are."""
        return self.heads_with_system or self.alternates

    def without_tools(self, before: "Manner") -> bool:
        """Return True if it was learned since `before` that the server takes no tools."""
        return TOOLS in self.left_out - before.left_out

    def fits(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters as this server takes them."""
        named = dict(parameters)
        if self.newer_limit and LIMIT in named:
            named[NEWER_LIMIT] = named.pop(LIMIT)
        if TOOLS in self.left_out:
            named.pop("tool_choice", None)
        return {name: value for name, value in named.items() if name not in self.left_out}


AS_USUAL = Manner()
_KNOWN: Mapping[str, Manner] = {"mistral": Manner(short_ids=True, answers_results=True)}
"""What is known of a provider before it has refused anything."""


def known_of(model: str) -> Manner:
    """Return what is known of a model before anything was learned of it."""
    if model.lower().startswith("gemini-"):  # at Google's OpenAI-compatible address, where models have no provider
        known = Manner(fills_signatures=True)
    else:
        known = _KNOWN.get(model.partition("/")[0], AS_USUAL)
    return replace(known, plain_schemas=True) if wants_plain_schemas(model) else known


def learned(manner: Manner, said: str, sent: Iterable[str]) -> Manner | None:
    """Return what a server's refusal teaches; None if it names nothing that could be sent in another way.

    `sent` are the names of the parameters of the request.
    """
    text = " ".join(said.split())
    taught = (
        _about_messages(manner, text)
        or _about_roles(manner, text)
        or _about_parameters(manner, text, frozenset(sent) - _NEEDED)
    )
    return taught if taught != manner else None


def names_parameter(said: str) -> bool:
    """Return True if a refusal seems to be about how the server is asked, not about what. Google says of anything that
    a request contains an invalid argument."""
    said = re.sub("contains an invalid argument", "", said)
    return says(r"\b(?:parameter|argument|property|field|extra inputs)\b", said) and says(_REFUSES, said)


def _about_messages(manner: Manner, text: str) -> Manner | None:
    if says(_WANTS_REASONING, text):
        return replace(manner, fills_reasoning=True)
    if says(_WANTS_SIGNATURES, text):
        return replace(manner, fills_signatures=True)
    if says(_WANTS_SHORT_IDS, text):
        return replace(manner, short_ids=True)
    if says(_WANTS_AN_ANSWER, text):
        return replace(manner, answers_results=True)
    if not (says(_PRIVATE, text) and says(_IN_MESSAGES, text) and says(_REFUSES, text)):
        return None
    return replace(manner, drops_thoughts=True) if says(BINDS_THOUGHTS, text) else replace(manner, bare=True)


def _about_roles(manner: Manner, text: str) -> Manner | None:
    """Return the next thing to try. A template that counts messages says the same of neighbours of one role, of a
    system prompt and of a tool's result, so each is tried in turn."""
    text = text.rpartition("Jinja Exception: ")[2]  # before it llama.cpp quotes all that the template can say
    headed = replace(manner, heads_with_system=True)
    ordered = replace(manner, alternates=True, answers_results=True)
    wordy = replace(manner, left_out=manner.left_out | {TOOLS})
    if says(_ORDER, text):
        steps = [ordered, headed, wordy]
    elif says(_TWO_ROLES, text):
        steps = [wordy] if says("optional system", text) else [headed, wordy]
    elif says(_NO_SYSTEM, text):
        steps = [headed]
    else:
        steps = [wordy] if says(_NO_RESULTS, text) else []
    return next((step for step in steps if step != manner), None)


def _about_parameters(manner: Manner, text: str, sent: frozenset[str]) -> Manner | None:
    if says(_OF_A_TOOL, text) or (says(_IN_MESSAGES, text) and not says(_WANTS_THOUGHTS, text)):
        return None
    refuses = says(_REFUSES, text) or says(_WANTS_THOUGHTS, text)
    if refuses and "tool_choice" in sent and "tool_choice" in text:  # as of Qwen's, which takes none while it thinks
        return replace(manner, left_out=manner.left_out | {"tool_choice"})
    refused = next(_named(text, sent - {TOOLS, "tool_choice"}), None) if refuses else None
    if refused == LIMIT and NEWER_LIMIT in text:
        return replace(manner, newer_limit=True)
    if refused is None and TOOLS in sent and says(_NO_TOOLS, text):
        refused = TOOLS
    if refused is None and "tool_choice" in sent and "tool_choice" in text:
        refused = "tool_choice"
    return None if refused is None else replace(manner, left_out=manner.left_out | {refused})


def _named(text: str, sent: frozenset[str]) -> Iterator[str]:
    """Yield the parameters that the text names, as the subject of its sentence first."""
    plain = _plain(text)
    found = {
        min(places): name
        for name in sent
        if (places := [match.start() for word in _ALIASES.get(name, (name,)) if (match := _word(word, plain))])
    }
    for _, name in sorted(found.items()):
        yield name


def _word(name: str, plain: str) -> re.Match[str] | None:
    return re.search(rf"(?<![a-z]){re.escape(_plain(name))}(?![a-z])", plain)


def _plain(text: str) -> str:
    """Return the text so that `maxTokens`, `max-tokens` and `max_tokens` are the same."""
    return re.sub(r"[_-]", "", text).lower()


def says(pattern: str, text: str) -> bool:
    """Return True if the words fit the pattern, in capitals or not."""
    return re.search(pattern, text, re.IGNORECASE) is not None
