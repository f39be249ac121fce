"""The nearest of many points, for each of many queries."""

from nearest.search import nearest

__all__ = ["nearest"]
