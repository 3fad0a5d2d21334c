"""Rules of groups, in chats and on the page: which messages are taken, who may speak, and what tools may do."""
