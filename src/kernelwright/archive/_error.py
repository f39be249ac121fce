"""What is wrong with something given to the archive, in one sentence."""


class ArchiveError(ValueError):
    """Says what, where, and what to do next."""
