"""Runner for a shipped skill's scripts as processes, as in the sandbox."""

from pathlib import Path

from tests.process import REPOSITORY, Finished, python

SKILLS = REPOSITORY / "skills"
NAMES = sorted(path.parent.name for path in SKILLS.glob("*/SKILL.md"))


async def run(skill: str, script: str, *arguments: str, cwd: Path) -> Finished:
    return await python("-E", "-s", str(SKILLS / skill / "scripts" / script), *arguments, cwd=cwd)
