"""Keeps chains of thoughts that can be revised, branched and reviewed."""

__version__ = "0.1.0"
