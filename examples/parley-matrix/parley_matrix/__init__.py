"""A channel of Parley: private chats on a Matrix server."""
