"""Voice messages that become text, and answers that are spoken as well."""
