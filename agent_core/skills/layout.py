"""The parts of the prompt about skills. The model runs scripts by the tool `run_skill_script`, sandboxed."""

from collections.abc import Iterable, Mapping, Sequence

from agent_core.skills.skill import SCRIPTS, Skill

INDEX_CHARS = 300
"""Characters of a description in the index."""
MOST_INDEXED = 100
LOADED, NOT_LOADED = "✓", "○"

LOADING = """\
Before you do what a skill's description fits, load it with load_skill, silently; several may be loaded."""
USING = """\
Load a skill's references with load_skill_reference when it says so, on errors, and for examples or details. Unload it \
with unload_skill when the topic changes, the task is done, or room is needed. Do so silently."""


def protocol(*, offers: bool, is_any_loaded: bool) -> str:
    """Return how to use skills: how to load one if any is offered, and the rest once one is loaded."""
    lines = [LOADING] * offers + [USING] * is_any_loaded
    return "\n".join(["# Skills", *lines]) if lines else ""


def index(lines: Sequence[tuple[Skill, bool]]) -> str:
    """Return the index, one line per skill with its mark; empty without skills."""
    if not lines:
        return ""
    shown = [index_line(skill, is_loaded=is_loaded) for skill, is_loaded in lines[:MOST_INDEXED]]
    if len(lines) > MOST_INDEXED:
        shown.append(f"- {len(lines) - MOST_INDEXED} more: search with list_skills")
    return "\n".join(["## Available Skills (use when needed)", *shown])


def index_line(skill: Skill, *, is_loaded: bool) -> str:
    description = skill.description
    if len(description) > INDEX_CHARS:
        description = f"{description[: INDEX_CHARS - 1].rstrip()}…"
    return f"- [{LOADED if is_loaded else NOT_LOADED}] **{skill.name}**: {description}"


def always(blocks: Iterable[str]) -> str:
    return _section("## Skills that are always loaded", blocks)


def loaded(blocks: Iterable[str]) -> str:
    return _section("## Loaded Skill Instructions", blocks)


def references(texts: Mapping[tuple[str, str], str]) -> str:
    """Return the references, given by skill and path."""
    return _section("## Loaded Skill References", (reference(name, path, text) for (name, path), text in texts.items()))


def reference(name: str, path: str, text: str) -> str:
    return f"### {name} - {path}\n{text}"


def block(skill: Skill, body: str, docs: Mapping[str, str]) -> str:
    """Return a skill's instructions with its description, scripts and references."""
    header = skill.header
    parts = [f"### Skill: {skill.name}\n# Skill: {skill.name}", header.description]
    if header.when_to_use:
        parts.append(f"**When to use**: {header.when_to_use}")
    parts += [_context(skill, offered=[*skill.references, *(doc for doc in skill.docs if doc not in docs)])]
    parts += [f"## Instructions\n{body}"]
    parts += [f"## {name}\n{text}" for name, text in docs.items()]
    return "\n\n".join(parts)


def _context(skill: Skill, offered: Sequence[str]) -> str:
    header = skill.header
    lines = ["## Skill Context", f"- **Skill Directory**: `{skill.folder}`"]
    for label, value in (
        ("Version", header.version),
        ("License", header.license),
        ("Required Packages", ", ".join(header.requires.packages)),
    ):
        if value:
            lines.append(f"- **{label}**: {value}")
    if skill.scripts:
        lines.append("- **Available Scripts**:")
        lines += [
            f'  - `{skill.folder / SCRIPTS / script}` (run with: `run_skill_script("{skill.name}", "{script}")`)'
            for script in skill.scripts
        ]
    if offered:
        lines.append(
            "- **Available References** (load on errors, for examples or details of scripts, or when the person wants "
            "alternatives):"
        )
        lines += [f'  - `{path}` (load with: `load_skill_reference("{skill.name}", "{path}")`)' for path in offered]
    return "\n".join(lines)


def _section(title: str, blocks: Iterable[str]) -> str:
    shown = list(blocks)
    return "\n\n".join([title, *shown]) if shown else ""
