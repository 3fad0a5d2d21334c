"""The command /doctor, which tries a chat."""
