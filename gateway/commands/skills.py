"""Commands for skills: /skills lists them, /skill loads, unloads and reloads one."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from msgspec.structs import replace

from agent_core.agent import Agent
from agent_core.late_pattern import LatePattern
from agent_core.skills.chat_skills import ChatSkills, SkillEntry
from agent_core.skills.skill import Origin, SkillError, SkillTrouble
from channels.base import Button, OutboundMessage
from channels.buttons import fits_a_button
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer, Rewritten, Unfolded
from gateway.commands.choice import Asked, Page, choice, entry, more
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.commands.more import short_first, split_more
from gateway.commands.skill_install import SkillInstalls
from gateway.commands.skill_levels import LEVELS, SkillLevels
from gateway.commands.suggested import suggested
from gateway.permissions.rights import LOOK, OTHERWISE, Right, Rights, always
from gateway.permissions.roles import Role
from gateway.texts.say import Language, say, skill_reason

MOST_FIRST = 5
"""Skills whose lines are shown before *More*."""
MOST_LISTED = 20
MOST_ABOUT = 100
"""Characters of a description in the list."""
MOST_REASON = 100
MOST_PROBLEMS = 8
MOST_PROBLEM = 200
MOST_BUTTONS, BUTTONS_IN_A_ROW = 10, 2
"""Ten buttons in rows of two: every platform shows at least five rows."""
LONGEST_NAME = 64
LOAD = Right("admin", Role.ADMIN, Role.ADMIN, refusal="skill_not_yours")
INSTALL = replace(LOAD, refusal="skill_install_not_yours")
MARKS = {False: "○", True: "✓"}

_FIRST_SENTENCE = LatePattern(r".*?[.!?](?= )|.*?[。！？]|.*", re.DOTALL)
"""The rest of a description tells the model when to use the skill."""

_TROUBLES = {
    SkillTrouble.NOT_FOUND: "skill_unknown",
    SkillTrouble.OVER_BUDGET: "skill_too_large",
    SkillTrouble.NO_ROOM: "skill_no_room",
    SkillTrouble.NOT_LOADED: "skill_not_loaded",
    SkillTrouble.HELD: "skill_always",
    SkillTrouble.DISABLED: "skill_missing",
    SkillTrouble.MISSING_REQUIREMENT: "skill_missing",
}


async def skills(given: Invocation) -> Answer:
    """List the skills, or those that match the words: the first, or with *More* all and for owners their problems."""
    chat_skills = await given.session.conversation.skills()
    asked = Asked.parse(given.arguments)
    wanted = " ".join(split_more(asked.words)[0].split())
    entries = _sorted(chat_skills, wanted)
    if not entries and not (given.is_admin and not wanted and _problems(chat_skills, given)):
        return reply(say("skills_not_found" if wanted else "skills_none", given.language, text=_named(wanted)))
    long = _list(given, chat_skills, wanted, page=asked.page)
    if asked.words != given.arguments.strip():  # a page of the menu
        return Unfolded(long) if given.pressed else long
    short = long if len(entries) <= MOST_FIRST else _first(given, entries, wanted, _problems(chat_skills, given))
    return short_first(given, f"skills {wanted}".rstrip(), short, long)


def _first(given: Invocation, entries: Sequence[SkillEntry], wanted: str, problems: Sequence[str]) -> OutboundMessage:
    """Return the first skills by their lines, the others by their names, and for admins what is wrong."""
    lines = [_line(entry, given.language) for entry in entries[:MOST_FIRST]]
    others = [literal(entry.name) for entry in entries[MOST_FIRST:MOST_LISTED]]
    if len(entries) > MOST_LISTED:
        others.append("…")
    also = say("skills_also", given.language, names=", ".join(others))
    text = "\n".join(
        [say("skills", given.language), "", *lines, "", also, *(problems if given.is_admin and not wanted else ())]
    )
    return _with_choice(given, text, entries[:MOST_FIRST], Page.of(entries, 1), wanted)


def _with_choice(
    given: Invocation, text: str, first: Sequence[SkillEntry], page: Page[SkillEntry], wanted: str
) -> OutboundMessage:
    """Return the list, for admins with buttons for the first skills and a menu of a page of them."""
    if not given.is_admin:
        return OutboundMessage(markdown=text)
    buttons = _rows(first, given.language)
    made = [
        each
        for skill in page.shown
        for each in entry(f"{MARKS[skill.loaded]} {skill.name}", f"/skill {skill.name}", _about(skill))
    ]
    made += more(page, f"skills {wanted}".rstrip(), given.language)
    menu = choice(say("skills_choose", given.language), made, rows=0)  # the buttons load and unload at once
    return OutboundMessage(markdown=text, buttons=buttons, choice=menu)


def _list(given: Invocation, chat_skills: ChatSkills, wanted: str = "", *first: str, page: int = 1) -> OutboundMessage:
    entries = _sorted(chat_skills, wanted)
    problems = _problems(chat_skills, given) if given.is_admin and not wanted else []
    lines = [*first, say("skills", given.language), ""]
    lines += [_line(entry, given.language) for entry in entries[:MOST_LISTED]]
    if len(entries) > MOST_LISTED:
        lines.append(say("skills_more", given.language, count=len(entries) - MOST_LISTED, slash=given.slash))
    return _with_choice(given, "\n".join([*lines, *problems]), entries, Page.of(entries, page), wanted)


class SkillCommands:
    """The commands /skills and /skill."""

    def __init__(self, installs: SkillInstalls, levels: SkillLevels) -> None:
        self._installs = installs
        self._levels = levels

    async def skill(self, given: Invocation) -> Answer:
        """Load or unload a skill here, or install and change it for everyone."""
        verb, _, rest = given.arguments.strip().partition(" ")
        if verb.lower() in self._installs.verbs:
            return await self._installs.run(given, verb.lower(), rest)
        name, _, level = rest.strip().lower().partition(" ")
        if level.strip() in LEVELS and verb.lower() in ("load", "unload"):
            return await self._levels.change(given, verb.lower(), name, LEVELS[level.strip()])
        if verb.lower() in ("load", "unload"):
            await self._levels.override(given, verb.lower(), name)
        return await _loaded(given, verb.lower(), rest.strip().lower().removesuffix(" chat"))

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "skills",
                {"en": "List the skills", "zh": "列出技能"},
                skills,
                rights=always(LOOK),
                suggest=_skills,
                arguments="[WORDS|more]",
                example={"en": "flight", "zh": "航班"},
                main=True,
            ),
            Command(
                "skill",
                {"en": "Load, install or change a skill", "zh": "加载、安装或更改技能"},
                self.skill,
                rights=Rights({**dict.fromkeys(self._installs.verbs, INSTALL), OTHERWISE: LOAD}),
                suggest=_skills,
                arguments="[load|unload|reload|install|update|remove|lock|unlock NAME]",
                example="load book-flight",
                takes_files=True,
                recorded=frozenset(self._installs.verbs),
                form=r"\w*",
                offered_to=Role.ADMIN,
            ),
        )


async def _loaded(given: Invocation, verb: str, name: str) -> Answer:
    """Load, unload or reload a skill in this chat, or show the one that is named without a verb."""
    act = _ACTS.get(verb)
    agent = await given.session.conversation.agent()
    chat_skills = agent.context.skills
    if act is None and not name and (named := _entry(chat_skills, verb)) is not None:
        return OutboundMessage(markdown=_line(named, given.language), buttons=_rows([named], given.language))
    if act is None or not name:
        return reply(say("skill_how", given.language, slash=given.slash))
    try:
        done = act(agent, name)
    except SkillError as error:
        return reply(_trouble(error, chat_skills, name, given))
    entry = _entry(chat_skills, name)
    if entry is not None and entry.always:
        return reply(say("skill_always", given.language, name=literal(name)))
    lines = [say(done, given.language, name=literal(name), where=_where(given))]
    if given.session.running_for is not None:
        lines.append(say("skill_from_now", given.language))
    if entry is not None and entry.loaded and entry.origin is Origin.CHAT:
        lines.append(say("skill_as_it_is", given.language))
    if given.pressed:
        return Rewritten(_list(given, chat_skills, "", " ".join(lines), ""))
    return OutboundMessage(markdown=" ".join(lines), buttons=_rows([entry] if entry else [], given.language))


def _load(agent: Agent, name: str) -> str:
    agent.load_skill(name)
    return "skill_loaded"


def _unload(agent: Agent, name: str) -> str:
    agent.unload_skill(name)
    return "skill_unloaded"


def _reload(agent: Agent, name: str) -> str:
    agent.reload_skill(name)
    return "skill_reloaded"


_ACTS: dict[str, Callable[[Agent, str], str]] = {"load": _load, "unload": _unload, "reload": _reload}
"""Each action raises SkillError, or returns the text key of its reply."""


def _line(entry: SkillEntry, language: Language) -> str:
    notes = [
        say(key, language)
        for key, is_so in (
            ("skill_is_always", entry.always),
            ("skill_is_held", entry.held),
            ("skill_is_own", entry.origin is Origin.CHAT),
            ("skill_by_command", entry.only_people and not entry.loaded),
        )
        if is_so
    ]
    note = f" ({', '.join(notes)})" if notes else ""
    line = f"- [{MARKS[entry.loaded]}] **{literal(entry.name)}**{note} – {literal(_about(entry))}"
    if not entry.reason:
        return line
    why = say("skill_unavailable", language, reason=literal(_short(skill_reason(entry.reason, language), MOST_REASON)))
    return f"{line} *{why}*"


def _about(entry: SkillEntry) -> str:
    first = _FIRST_SENTENCE.match(entry.description)
    return _short(first[0] if first else "", MOST_ABOUT)


def _problems(chat_skills: ChatSkills, given: Invocation) -> list[str]:
    """Return the problems; in groups those of shared folders are only counted, as they reveal the owner's setup."""
    here, shared = chat_skills.problems, tuple(map(str, chat_skills.library.diagnostics))
    if not given.in_group:
        return _listed("skills_problems", (*here, *shared), given.language)
    lines = _listed("skills_problems_here", here, given.language)
    if shared:
        lines += ["", say("skills_problems_shared", given.language, count=len(shared), slash=given.slash)]
    return lines


def _listed(title: str, problems: Sequence[str], language: Language) -> list[str]:
    if not problems:
        return []
    shown = [f"- {literal(_short(problem, MOST_PROBLEM))}" for problem in problems[:MOST_PROBLEMS]]
    more = len(problems) - len(shown)
    return ["", say(title, language, count=len(problems)), "", *shown, *(["- …"] if more else [])]


def _rows(entries: Sequence[SkillEntry], language: Language) -> tuple[tuple[Button, ...], ...]:
    """Return buttons to load or unload skills."""
    found = (button for entry in entries if (button := _button(entry, language)))
    buttons = list(islice(found, MOST_BUTTONS))
    return tuple(tuple(buttons[start : start + BUTTONS_IN_A_ROW]) for start in range(0, len(buttons), BUTTONS_IN_A_ROW))


def _button(entry: SkillEntry, language: Language) -> Button | None:
    verb, label = ("unload", "unload_button") if entry.loaded else ("load", "load_button")
    action = f"/skill {verb} {entry.name}"
    usable = not entry.always and (entry.loaded or not entry.reason)
    if not usable or not fits_a_button(action):
        return None
    return Button(label=say(label, language, name=entry.name), action=action)


def _sorted(chat_skills: ChatSkills, wanted: str = "") -> list[SkillEntry]:
    """Return the skills that match the words, loaded ones first."""
    return sorted(chat_skills.entries(wanted), key=lambda entry: not entry.loaded)


def _entry(chat_skills: ChatSkills, name: str) -> SkillEntry | None:
    return next((entry for entry in chat_skills.entries() if entry.name == name), None)


def _trouble(error: SkillError, chat_skills: ChatSkills, name: str, given: Invocation) -> str:
    """Return the error in the user's language, as far as it is translated."""
    entry = _entry(chat_skills, name)
    reason = skill_reason(entry.reason, given.language) if entry else ""
    key = _TROUBLES.get(error.code, "skill_failed")
    if key == "skill_missing" and not reason:
        key = "skill_failed"
    return say(
        key,
        given.language,
        name=_named(name),
        slash=given.slash,
        reason=literal(_short(reason, MOST_REASON)),
        fact=literal(_short(f"{error.fact}; {error.advice}", MOST_PROBLEM)),
    )


def _where(given: Invocation) -> str:
    """Return the scope that the command has changed: the chat or the thread."""
    return say("in_this_chat" if given.chat.thread is None else "in_this_thread", given.language)


def _named(name: str) -> str:
    return literal(_short(name, LONGEST_NAME))


def _short(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


async def _skills(typing: Unfinished) -> Iterable[Suggestion]:
    entries = (await typing.session.conversation.skills()).entries()
    return (suggested(entry.name) for entry in _fitting(entries, typing.before.lower()))


def _fitting(entries: Sequence[SkillEntry], verb: str) -> Iterable[SkillEntry]:
    """Return the skills with which this can be done."""
    match verb:
        case "load":
            return (each for each in entries if not each.loaded)
        case "unload" | "reload":
            return (each for each in entries if each.loaded)
        case "update" | "remove":
            return (each for each in entries if each.origin is Origin.INSTALLED)
        case "install":
            return ()
        case _:
            return entries
