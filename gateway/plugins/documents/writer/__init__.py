"""Writing documents: PDF and Word files from Markdown, and Excel files from its tables."""
