"""The agent loop, models, tools and context; independent of chat platforms and databases."""
