"""Reads, writes, searches and watches files inside the directories you allow."""

__version__ = "0.1.0"
