"""Files of chats: folders, versions, quotas, outgoing copies."""
