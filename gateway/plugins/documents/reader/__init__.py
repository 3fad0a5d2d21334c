"""The reader of documents: a program that runs in the sandbox, with nothing of Parley but this folder."""
