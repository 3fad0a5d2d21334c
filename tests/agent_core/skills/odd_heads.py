"""Heads of SKILL.md as people write them, sound and odd."""

from collections.abc import Iterator

WHAT = "Makes reports"
PHRASES = (
    f"{WHAT}.",
    f"{WHAT}. Use when: somebody asks for numbers",
    f"{WHAT} (triggers: 'weekly', \"monthly\", or numbers: all)",
    f"{WHAT} - see https://example.com/a#b for: everything",
    f"{WHAT}. It's for the team's numbers: both \"new\" and 'old'",
    f"{WHAT} for @ann, #sales & *everybody*: {{all}} of [them]",
    f"{WHAT}\uff1a用于每周销售: 全部",
    f"{WHAT} | Use for: tables > 3 rows, 50% off, ~100 lines",
    f"{WHAT}, e.g.: - one - two ? three ! four",
)
FORMS = (
    "description: {}",
    "description:  {}  ",
    "Description: {}",
    "description:{}",
    "description\uff1a{}",
    "description:\t{}",
    "description: > {}",
    "description: |- {}",
    "description: >\n  {}",
    "description: |\n\t{}",
    "description:\n  {}",
    'description: "{}',
    'description: "{}"',
    "description: '{}'",
    "description: {}\n  and more: yes",
    "description: {}\nand more without an indent",
    " description: {}",
)
NAMES = (
    "name: reports",
    'name: "reports"',
    "name: Weekly Reports",
    "name: weekly_reports",
    "name: reports: weekly",
    "name:reports",
    "Name: reports",
    "name:",
    "# no name",
)
OTHERS = (
    "license: MIT",
    "metadata: {author: ann, version: 1.0",
    "allowed-tools: Bash(git:*), Read, *",
    "argument-hint: [file] [--all]",
    "examples:\n\t- a: b: c",
    "tags: [a, b\nhooks:\n  - x: [",
    "author: Ann <ann@example.com>: me",
    "version: 1.0: beta\u0007",
    "---x: y",
)
ENDS = ("\n", "\r\n", "\r")


def heads() -> Iterator[bytes]:
    """Yield many heads: each form of a description with each phrase, beside names and keys in turn."""
    number = 0
    for form in FORMS:
        for phrase in PHRASES:
            for place in range(3):
                number += 1
                keys = [NAMES[number % len(NAMES)], form.format(phrase)]
                keys.insert(place, OTHERS[number % len(OTHERS)])
                text = "\n".join(["---", *keys, "---", "", "# Reports", "", "Do it."])
                mark = "\ufeff" if number % 5 == 0 else ""
                yield f"{mark}{text}".replace("\n", ENDS[number % len(ENDS)]).encode()
