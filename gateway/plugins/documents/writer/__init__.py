"""Writing documents: Word files from Markdown, and Excel files from its tables."""
