"""The plugins that come with Parley, each a folder with a README; `gateway/plugin.py` is what they can add."""
