"""The value that is compiled, cached and sent to whoever compiles. Knows nothing of how."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Program text in one language, with the compiler flags its author asked for."""

    language: str
    text: str
    flags: tuple[str, ...] = ()

    @property
    def backend(self) -> str:
        """The backend it belongs to: `cuda` for `cuda-extension`."""
        return self.language.partition("-")[0]
