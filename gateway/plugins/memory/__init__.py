"""The memory of chats: the command /memory, the tools of the model, its notes, and the screen."""
