"""Refusals that several dialects of OpenAI's protocol have in common, each with the words of the one that uses it."""

import re
from itertools import pairwise

from tests.emulators.dialects.openai_chat import Handed, Rule, assistant_calls, messages_of, parameters_of
from tests.emulators.model_script import Json
from tests.kimi_schemas import refusals_of_kimi
from tests.strict_schemas import refusals

PREFILLED = "This model does not support assistant message prefill. The conversation must end with a user message."
_SHORT = re.compile("[a-zA-Z0-9]{9}")


def wants_back(field: str, sentence: str, *, of_all: bool = True, takes_empty: bool = False) -> Rule:
    """Refuse answers with calls that come back with another value of a field than they were handed out with.

    With `of_all`, each answer with calls needs the field, also one that was given without thoughts or by another model;
    any text will do there, and with `takes_empty` an empty one.
    """

    def rule(body: Json, handed: Handed) -> str | None:
        for place, message, calls in assistant_calls(body):
            own = handed.get(str(calls[0].get("id")), {})
            given = message.get(field)
            fits = given == own[field] if own.get(field) else given or not of_all or (takes_empty and given == "")
            if not fits:
                return sentence.format(place)
        return None

    return rule


def wants_signatures(sentence: str) -> Rule:
    """Refuse answers whose first call comes back without its signature."""

    def rule(body: Json, handed: Handed) -> str | None:
        for place, _, calls in assistant_calls(body):
            own = handed.get(str(calls[0].get("id")))
            extra = calls[0].get("extra_content")
            if not extra or (own is not None and extra != own.get("extra_content")):
                function = calls[0].get("function")
                return sentence.format(function.get("name") if isinstance(function, dict) else "", place)
        return None

    return rule


def forbids(fields: tuple[str, ...], sentence: str) -> Rule:
    """Refuse messages with fields that the server does not know."""

    def rule(body: Json, handed: Handed) -> str | None:
        for place, message in enumerate(messages_of(body)):
            for field in fields:
                if field in message:
                    return sentence.format(place, field)
        return None

    return rule


def short_ids(body: Json, handed: Handed) -> str | None:
    """Refuse ids of calls that have not nine letters and digits."""
    for _, _, calls in assistant_calls(body):
        for call in calls:
            if not _SHORT.fullmatch(str(call.get("id"))):
                return f"Tool call id was {call.get('id')} but must be a-z, A-Z, 0-9, with a length of 9."
    return None


def no_user_after_tool(body: Json, handed: Handed) -> str | None:
    """Refuse a person's message directly after the result of a tool."""
    roles = [str(message.get("role")) for message in messages_of(body)]
    for before, role in pairwise(roles):
        if (before, role) in {("tool", "user"), ("user", "tool")}:
            return f"Unexpected role '{role}' after role '{before}'"
    return None


def ends_with_a_question(body: Json, handed: Handed) -> str | None:
    """Refuse a request that ends with words of the model."""
    last = messages_of(body)[-1].get("role")
    return PREFILLED if last == "assistant" else None


def no_empty_message(sentence: str) -> Rule:
    """Refuse messages without words, pictures and calls."""

    def rule(body: Json, handed: Handed) -> str | None:
        spoken = (message for message in messages_of(body) if message.get("role") != "tool")
        return None if all(each.get("content") or each.get("tool_calls") for each in spoken) else sentence

    return rule


def sound_tools(body: Json, handed: Handed) -> str | None:
    """Refuse tools whose schemas are not sound."""
    for name, parameters in parameters_of(body):
        for said in refusals(parameters):
            return f"Invalid schema for function '{name}': {said}"
    return None


def tools_for_kimi(body: Json, handed: Handed) -> str | None:
    """Refuse tools whose schemas have what Moonshot does not take."""
    return next((said for _, parameters in parameters_of(body) for said in refusals_of_kimi(parameters)), None)
