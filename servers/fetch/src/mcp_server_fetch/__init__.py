"""Brings web pages to a model, as Markdown."""

__version__ = "0.1.0"
