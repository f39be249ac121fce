"""The one error of this room."""


class TraceError(Exception):
    """A program that cannot be traced or checked: what is wrong, and what to do next."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what, fix)
        self.what = what
        self.fix = fix

    def __str__(self) -> str:
        return self.what
