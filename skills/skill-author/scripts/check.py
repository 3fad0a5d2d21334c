"""Checks a skill's folder: header, size, and the files it refers to. Exits with 1 if there is an error.

Headers are YAML. This parses the simple subset that skills need, and reports lines that it would misread.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

MOST_NAME, MOST_DESCRIPTION, GOOD_DESCRIPTION = 64, 1_024, 300
MOST_TOKENS, LONG_TOKENS, MOST_REFERENCE, MOST_BYTES = 8_000, 5_000, 8_000, 256 * 1024
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
HEADER = re.compile(r"\A---[ \t]*\n(?P<head>.*?)^---[ \t]*(?:\n|\Z)(?P<body>.*)", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(?P<value>.*?))?[ \t]*")
TRAPS = re.compile(r": |:$| #|^[]\[{}*&!|>%@`,?#]|^- ")
UNHARMED = re.compile(r"""[|>][-+]?|\[.*\]|\{.*\}|"[^"]*"|'[^']*'""")
NAMED = re.compile(r"\b(?P<path>(?:scripts|references|assets)/[\w.-]+[\w-])|\b(?P<own>(?:reference|forms)\.md)\b")
WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
READ = {".md", ".txt", ".yaml", ".yml", ".json"}
SECRET = re.compile(
    r"\b(sk-[\w-]{16,}|xox[abp]-[\w-]{10,}|ghp_\w{20,}|AKIA[0-9A-Z]{16})\b|-----BEGIN [A-Z ]*PRIVATE KEY"
)


class Finding(NamedTuple):
    is_wrong: bool
    """True for errors, False for advice."""
    text: str


def wrong(text: str) -> Finding:
    return Finding(is_wrong=True, text=text)


def advice(text: str) -> Finding:
    return Finding(is_wrong=False, text=text)


def tokens(text: str) -> int:
    """Estimate tokens: one for each CJK character, a quarter for any other."""
    wide = len(WIDE.findall(text))
    return wide + -(-(len(text) - wide) // 4)


def check(folder: Path) -> Iterator[Finding]:
    if not folder.is_dir():
        yield wrong(f"there is no folder {folder}")
        return
    yield from check_files(folder)
    text = text_of(folder / "SKILL.md")
    if isinstance(text, Finding):
        yield text
        return
    found = HEADER.match(text)
    if found is None:
        yield wrong("SKILL.md does not begin with a header between two lines of ---")
        return
    yield from check_header(found["head"], folder.resolve().name)
    yield from check_body(found["body"], folder)


def text_of(path: Path) -> str | Finding:
    """Return the text of a file that a model will read, or the reason why it cannot."""
    if path.is_symlink() or not path.is_file():
        return wrong(f"there is no file {path.name}")
    content = path.read_bytes()
    if len(content) > MOST_BYTES:
        return wrong(f"{path.name} is larger than {MOST_BYTES // 1024} KB")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return wrong(f"{path.name} is not UTF-8")


def check_files(folder: Path) -> Iterator[Finding]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_symlink():
            yield wrong(f"{name} is a link; put the file itself there")
        elif name.parts[0] == "references" and path.is_file() and path.suffix not in READ:
            yield wrong(f"{name} cannot be loaded; references are {', '.join(sorted(READ))}")
        elif path.suffix in READ and path.is_file() and name.name != "SKILL.md":
            text = text_of(path)
            if isinstance(text, Finding):
                yield text
            elif tokens(text) > MOST_REFERENCE:
                yield advice(f"{name} has about {tokens(text):,} tokens; split it")


def check_header(head: str, folder: str) -> Iterator[Finding]:
    fields: dict[str, str] = {}
    for number, line in enumerate(head.splitlines(), 2):
        if not line.strip() or line[0] in " \t-#":
            continue  # continues the line above, or is a comment
        found = LINE.fullmatch(line)
        if found is None:
            yield wrong(f"SKILL.md line {number} is not `key: value`: {line.strip()}")
            continue
        value = (found["value"] or "").strip()
        fields[found["key"].lower().replace("-", "_")] = value.strip("\"'")
        if TRAPS.search(value) and not UNHARMED.fullmatch(value):
            yield wrong(f"SKILL.md line {number}: put the value of {found['key']} in double quotes")
    yield from check_name(fields.get("name", ""), folder)
    yield from check_description(fields.get("description", ""))


def check_name(name: str, folder: str) -> Iterator[Finding]:
    if not name:
        yield wrong(f"the header has no name; write `name: {folder}`")
    elif not NAME.fullmatch(name) or len(name) > MOST_NAME:
        yield wrong(f"{name} is no name for a skill: use a-z, 0-9 and single hyphens, at most {MOST_NAME} characters")
    elif name != folder:
        yield wrong(f"the skill is called {name}, but its folder {folder}")


def check_description(description: str) -> Iterator[Finding]:
    if not description:
        yield wrong("the header has no description, or none on its own line")
    elif len(description) > MOST_DESCRIPTION:
        yield wrong(f"the description has {len(description):,} characters; {MOST_DESCRIPTION:,} is the most")
    elif len(description) > GOOD_DESCRIPTION:
        yield advice(f"the description has {len(description)} characters, which are sent with every message")


def check_body(body: str, folder: Path) -> Iterator[Finding]:
    count = tokens(body)
    if not body.strip():
        yield wrong("SKILL.md has a header but no instructions")
    elif count > MOST_TOKENS:
        yield wrong(f"SKILL.md has about {count:,} tokens and cannot be loaded; {MOST_TOKENS:,} is the most")
    elif count > LONG_TOKENS:
        yield advice(f"SKILL.md has about {count:,} tokens; move details into references")
    named = {found["path"] or found["own"] for found in NAMED.finditer(body)}
    for path in sorted(named):
        if not (folder / path).exists():
            yield wrong(f"SKILL.md names {path}, which is not there")
    there = [path for path in [*folder.glob("references/*"), folder / "reference.md"] if path.is_file()]
    for path in there:
        if str(path.relative_to(folder)) not in named:
            yield advice(f"SKILL.md never says when to load {path.relative_to(folder)}")
    if SECRET.search(body):
        yield wrong("SKILL.md seems to hold a key or password; take it out")
    if "../" in body:
        yield wrong("SKILL.md leads out of its folder with ../")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="check.py", description="Check the folder of a skill.")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args(arguments).folder
    findings = list(check(folder))
    faults = [finding.text for finding in findings if finding.is_wrong]
    hints = [finding.text for finding in findings if not finding.is_wrong]
    lines = [*(f"wrong: {text}" for text in faults), *(f"advice: {text}" for text in hints)]
    if not faults:
        lines.insert(0, f"OK: {folder.resolve().name} can be loaded")
    sys.stdout.write("\n".join([*lines, ""]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
