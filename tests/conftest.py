"""Settings for the whole suite."""

import signal

from hypothesis import settings

# A busy machine must not fail a test, so examples have no time limit.
settings.register_profile("spinney", deadline=None, print_blob=True)
settings.load_profile("spinney")

# A shell that starts the tests in the background has them ignore Ctrl-C, and a test that sends it
# would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
