"""The command /usage: what the models have cost."""
