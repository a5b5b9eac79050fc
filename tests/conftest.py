"""Before any test module is imported: Prefect configures logging once.

Doing so closes every handler there is, and the one that `absl` (a requirement of rouge-score) makes when it is imported would
close pytest's captured standard error with it.
"""

from prefect.logging.configuration import ensure_logging_setup

ensure_logging_setup()
