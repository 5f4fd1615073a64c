"""Counts things."""

__version__ = "0.1.0"
