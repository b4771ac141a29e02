"""Scoring replies."""
