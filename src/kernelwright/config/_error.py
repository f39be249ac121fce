"""The one error of this room."""


class ConfigError(Exception):
    """A setting that cannot be used: one sentence, and what to do next."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what, fix)
        self.what = what
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.what}\n  fix: {self.fix}" if self.fix else self.what
