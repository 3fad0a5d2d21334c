"""Forms that ask for the arguments of a command, made from its usage hint."""

import re

from channels.commands import CommandSpec, Form, fields
from gateway.texts.say import Language, arguments_in


def form_of(spec: CommandSpec, begun: str, language: Language) -> Form | None:
    """Return the form for the arguments after those that are given; None if there is none after them."""
    if spec.form is None or not re.fullmatch(spec.form, begun.strip(), re.IGNORECASE):
        return None
    asked = fields(spec.arguments, len(begun.split()))
    named = (each.model_copy(update={"label": arguments_in(each.label, language).capitalize()}) for each in asked)
    return Form(title=spec.description[language], fields=tuple(named)) if asked else None
