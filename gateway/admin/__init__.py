"""The pages from which owners and admins run Parley."""
