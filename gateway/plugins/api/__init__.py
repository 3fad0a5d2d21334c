"""An address that speaks OpenAI's protocol, so that editors and other programs talk to the agent of a chat."""
