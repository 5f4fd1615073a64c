"""Remembers entities, relations and facts between conversations."""

__version__ = "0.1.0"
