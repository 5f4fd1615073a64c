"""What all tests with real processes share."""

from collections.abc import Iterator

import pytest

from .process import end_spares


@pytest.fixture(scope="package", autouse=True)
def no_spare_is_left() -> Iterator[None]:
    """Servers that were started in advance end with the tests."""
    yield
    end_spares()
