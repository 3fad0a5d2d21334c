"""Permissions: access to chats, the policy for tool calls, and approvals."""
