"""Forms that ask for the arguments of a command, made from its usage hint."""

import re

from channels.commands import CommandSpec, Form, fields
from gateway.texts.say import Language, arguments_in, say


def form_of(spec: CommandSpec, begun: str, language: Language) -> Form | None:
    """Return the form for the arguments after those that are given; None if there is none after them."""
    if spec.form is None or not re.fullmatch(spec.form, begun.strip(), re.IGNORECASE):
        return None
    asked = fields(spec.arguments, len(begun.split()))
    if not asked:
        return None
    named = [each.model_copy(update={"label": arguments_in(each.label, language).capitalize()}) for each in asked]
    if not spec.takes_files:
        return Form(title=spec.description[language], fields=tuple(named))
    # A file may stand for what is not written.
    loose = tuple(each.model_copy(update={"required": each.required and bool(each.choices)}) for each in named)
    return Form(title=spec.description[language], fields=loose, file=say("form_file", language))
