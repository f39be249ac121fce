"""What runs inside the judge's worker processes: the candidate's, the reference's, the compiler's."""
