"""Lets a model query SQLite databases."""

__version__ = "0.1.0"
