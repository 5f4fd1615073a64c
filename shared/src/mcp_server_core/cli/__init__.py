"""The command line that all servers share."""

from .options import parser, run
from .serving import serve

__all__ = ["parser", "run", "serve"]
