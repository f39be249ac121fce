"""Which commit a checkout is at, by reading its files: git need not be installed."""

from pathlib import Path

_SHORT = 12


def commit(root: Path) -> str:
    """The commit that is checked out in a folder or the one above it; empty where there is none."""
    for folder in (root, root.parent):
        metadata = _metadata(folder / ".git")
        if metadata is not None:
            return _head(metadata)[:_SHORT]
    return ""


def _metadata(entry: Path) -> Path | None:
    """The folder behind `.git`, which in worktrees and submodules is a file that names it."""
    if entry.is_dir():
        return entry
    if not entry.is_file():
        return None
    named = _text(entry).removeprefix("gitdir:").strip()
    return (entry.parent / named).resolve()


def _head(metadata: Path) -> str:
    head = _text(metadata / "HEAD")
    if not head.startswith("ref:"):
        return head
    ref = head.removeprefix("ref:").strip()
    shared = metadata / _text(metadata / "commondir") if (metadata / "commondir").is_file() else metadata
    return _text(metadata / ref) or _text(shared / ref) or _packed(shared / "packed-refs", ref)


def _packed(path: Path, ref: str) -> str:
    found = (line.split(" ")[0] for line in _text(path).splitlines() if line.endswith(f" {ref}"))
    return next(found, "")


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
