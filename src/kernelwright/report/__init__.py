"""What judged solutions amount to: records in, tables out.

Knows outcomes, metrics and how to write them down. Judges nothing, reads no files and has no clock.
"""

from kernelwright.report._attempt import Attempt, Fate, Ratio, attempts
from kernelwright.report._bench import Bench, Result, Speed, Summary, summarise
from kernelwright.report._comparison import COMPARABLE, Comparison, compare, gap
from kernelwright.report._comparison_tables import comparison_json, curve_rows, gap_rows, place_gap_rows
from kernelwright.report._course import BUDGETS, COUNTED, EVALUATIONS, Course, CourseError, course
from kernelwright.report._difference import MANY, Difference, Paired, difference
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
    "BUDGETS",
    "COMPARABLE",
    "COUNTED",
    "EVALUATIONS",
    "MANY",
    "THRESHOLDS",
    "Attempt",
    "Audited",
    "Bench",
    "Comparison",
    "Course",
    "CourseError",
    "Difference",
    "Estimate",
    "Fate",
    "Outcome",
    "Paired",
    "Ratio",
    "Result",
    "Speed",
    "Summary",
    "attempts",
    "compare",
    "comparison_json",
    "correctness",
    "course",
    "curve_rows",
    "difference",
    "fast",
    "gap",
    "gap_rows",
    "geometric_mean",
    "kept",
    "pass_at",
    "place_gap_rows",
    "quality_page",
    "rows",
    "summarise",
    "summary_rows",
    "to_csv",
    "to_json",
    "to_markdown",
]
