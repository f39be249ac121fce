"""What judged solutions amount to: records in, tables out.

Knows outcomes, metrics and how to write them down. Judges nothing, reads no files and has no clock.
"""

from kernelwright.report._attempt import Attempt, Fate, Ratio, attempts
from kernelwright.report._bench import Bench, Result, Speed, Summary, summarise
from kernelwright.report._metrics import (
    THRESHOLDS,
    Estimate,
    Outcome,
    correctness,
    fast,
    geometric_mean,
    kept,
    pass_at,
)
from kernelwright.report._quality_page import Audited, quality_page
from kernelwright.report._tables import rows, summary_rows, to_csv, to_json, to_markdown

__all__ = [
    "THRESHOLDS",
    "Attempt",
    "Audited",
    "Bench",
    "Estimate",
    "Fate",
    "Outcome",
    "Ratio",
    "Result",
    "Speed",
    "Summary",
    "attempts",
    "correctness",
    "fast",
    "geometric_mean",
    "kept",
    "pass_at",
    "quality_page",
    "rows",
    "summarise",
    "summary_rows",
    "to_csv",
    "to_json",
    "to_markdown",
]
