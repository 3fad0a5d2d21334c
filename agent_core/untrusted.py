"""Marking what strangers may have written, so that a model can tell it from what people ask of it."""
