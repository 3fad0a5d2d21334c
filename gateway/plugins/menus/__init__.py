"""Menus of commands that fit the role of each person."""
