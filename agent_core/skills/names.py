"""Tool names reserved for the skill system."""

SKILL_TOOLS = frozenset({"load_skill", "unload_skill", "load_skill_reference", "list_skills"})
