"""The parts of a running gateway, each made once, in order: a module makes those that stand on the ones before it."""
