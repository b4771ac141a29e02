"""Tracking spend."""
