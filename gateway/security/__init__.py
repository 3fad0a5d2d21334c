"""Secrets, masking, and private output."""
