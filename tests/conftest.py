"""Settings for the whole suite."""

from hypothesis import settings

# A busy machine must not fail a test, so examples have no time limit.
settings.register_profile("spinney", deadline=None, print_blob=True)
settings.load_profile("spinney")
