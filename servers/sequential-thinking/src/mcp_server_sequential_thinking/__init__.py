"""Keeps a chain of thoughts that can be revised and branched."""

__version__ = "0.1.0"
