"""The agent loop: models, tools, context. It knows no platform and no database."""
