"""A plugin of Parley that refuses calls at night."""
