"""Calling models."""
