"""Translation between the events and messages of each platform and those of Parley."""
