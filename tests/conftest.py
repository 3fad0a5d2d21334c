"""What holds for every test."""

from hypothesis import settings

# The same examples in every run, so that a failure belongs to the change that shows it; `--hypothesis-profile=explore`
# looks further. How long an example takes says more about the machine than about the code.
settings.register_profile("parley", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2_000)
settings.load_profile("parley")
