"""What the tests over HTTP share: one server with the defaults, which has to survive all of them."""

from collections.abc import Iterator

import pytest

from .process import HttpServer


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    """A server with the default settings; every module has its own."""
    with HttpServer() as process:
        yield process
