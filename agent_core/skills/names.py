"""Names that belong to the skill system, whatever other tools there are (S0-16)."""

SKILL_TOOLS = frozenset({"load_skill", "unload_skill", "load_skill_reference", "list_skills"})
