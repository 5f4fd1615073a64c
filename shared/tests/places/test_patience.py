"""Directories whose disk does not answer."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_server_core.places import Grant, Patience, Places, parse_grants
from mcp_server_core.places.patience import ask_briefly


class Share:
    """A directory that answers, or does not."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.answers = threading.Event()
        self.asked = threading.Event()
        for name in ("stat", "open"):
            monkeypatch.setattr(os, name, self._hanging(getattr(os, name)))

    def _hanging(self, call: Any) -> Any:
        def wait(path: Any, *args: Any, **options: Any) -> Any:
            if path == str(self.path) and not self.answers.is_set():
                self.asked.set()
                self.answers.wait(20)
            return call(path, *args, **options)

        return wait


@pytest.fixture
def share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Share]:
    (tmp_path / "share").mkdir()
    share = Share(tmp_path / "share", monkeypatch)
    yield share
    share.answers.set()


def opened(share: Share, patience: Patience) -> Places:
    return Places([Grant(str(share.path.parent)), Grant(str(share.path))], patience=patience)


def test_while_one_thread_waits_for_a_directory_others_use_what_is_known(share: Share) -> None:
    share.answers.set()
    places = opened(share, Patience(0.05))
    share.answers.clear()
    stuck = threading.Thread(target=places.current)
    stuck.start()
    assert share.asked.wait(5)
    assert places.resolve(str(share.path.parent)).exists()
    assert [item.problem for item in places.listing()] == ["", "does not answer"]
    share.answers.set()
    stuck.join(5)
    assert [item.problem for item in places.listing()] == ["", ""]


def test_a_directory_that_never_answered_is_missing_until_it_does(share: Share) -> None:
    patience = Patience(0.05)
    stuck = threading.Thread(target=opened, args=(share, patience))
    stuck.start()
    assert share.asked.wait(5)
    places = opened(share, patience)
    assert [item.problem for item in places.listing()] == ["", "does not answer"]
    share.answers.set()
    stuck.join(5)
    assert len(places.current()) == 2


def test_a_directory_that_does_not_answer_is_still_a_grant(share: Share) -> None:
    (grant,) = parse_grants([f"{share.path}:ro"])
    assert grant == Grant(str(share.path), writable=False)


def test_a_question_that_is_not_answered_in_time_is_left() -> None:
    release = threading.Event()
    assert ask_briefly(lambda: release.wait(5), None, 0.05) is None
    assert ask_briefly(lambda: "answer", None) == "answer"
    release.set()
