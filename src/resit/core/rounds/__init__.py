"""Rounds: what is owed, asking it, keeping it, grading it again."""
