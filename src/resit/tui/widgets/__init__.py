"""Widgets that more than one screen could use."""
