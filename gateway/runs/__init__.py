"""Runs of the agent: attempts, tasks, answers, and the agents themselves."""
