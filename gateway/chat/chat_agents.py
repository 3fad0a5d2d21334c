"""Loads the agents of chats from the store."""

from functools import partial

from agent_core.agent import Agent
from channels.base import ChatKey
from gateway.chat.memories import Memories
from gateway.permissions.workspaces import Workspaces
from gateway.runs.agents import Agents
from gateway.store.store import Store


class ChatAgents:
    """Makes agents with the history and the loaded skills of a chat."""

    def __init__(self, agents: Agents, workspaces: Workspaces, memories: Memories, store: Store) -> None:
        self._agents = agents
        self._workspaces = workspaces
        self._memories = memories
        self._store = store

    async def load(self, chat: ChatKey, session: str) -> Agent:
        """Return an agent with the history of a session."""
        states = await self._store.skills.of(chat)
        keep, facts = partial(self._store.skills.save, chat), self._memories.keeper(chat)
        agent = self._agents.make(chat, session, self._workspaces.folder(chat), states, keep, keep_facts=facts)
        agent.replace_messages(await self._store.transcript.history(session))
        return agent
