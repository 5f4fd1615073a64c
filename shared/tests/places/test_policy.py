"""The operator's ceiling and the client's roots: who may use which directory."""

from pathlib import Path

import pytest
from mcp_server_core.errors import ToolError
from mcp_server_core.places import ClientRoot, Grant, Listed, Places, parse_grant, parse_grants, parse_root
from mcp_server_core.places.policy import split_rights


def uri(path: Path) -> str:
    return f"file://{path}"


# --- what the operator writes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "windows", "expected"),
    [
        ("/data", False, ("/data", "")),
        ("/data:ro", False, ("/data", "ro")),
        ("/data:rw", False, ("/data", "rw")),
        ("/data:RO", False, ("/data", "ro")),
        ("/data:append", False, ("/data:append", "")),
        ("/odd:ro:rw", False, ("/odd:ro", "rw")),
        (":ro", False, (":ro", "")),
        ("C:\\x:ro", True, ("C:\\x", "ro")),
        ("C:\\x", True, ("C:\\x", "")),
        ("C:\\", True, ("C:\\", "")),
        ("C:ro", True, ("C:ro", "")),
        ("\\\\server\\share:rw", True, ("\\\\server\\share", "rw")),
    ],
)
def test_rights_are_split_off_the_end_of_an_argument(
    argument: str, windows: bool, expected: tuple[str, str]
) -> None:
    assert split_rights(argument, windows=windows) == expected


def test_a_relative_directory_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_grant("data:ro") == Grant(str(tmp_path / "data"), writable=False)


def test_a_tilde_means_the_home_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert parse_grant("~/notes") == Grant(str(tmp_path / "notes"))


def test_dots_in_an_argument_are_resolved_through_links(tmp_path: Path) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "deep")
    assert parse_grant(f"{tmp_path}/link/..") == Grant(str(tmp_path / "real"))


def test_a_suffix_wins_over_a_directory_that_is_called_like_that(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data:ro").mkdir()
    assert parse_grant(f"{tmp_path}/data:ro") == Grant(f"{tmp_path}/data", writable=False)


def test_a_directory_whose_name_ends_like_a_suffix_is_found_when_nothing_else_is_meant(
    tmp_path: Path,
) -> None:
    (tmp_path / "data:ro").mkdir()
    assert parse_grant(f"{tmp_path}/data:ro") == Grant(f"{tmp_path}/data:ro")


def test_a_second_suffix_makes_it_unambiguous(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data:ro").mkdir()
    assert parse_grant(f"{tmp_path}/data:ro:rw") == Grant(f"{tmp_path}/data:ro")


def test_a_file_instead_of_a_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="is a file: name the directory"):
        parse_grant(str(tmp_path / "file"))


@pytest.mark.parametrize("argument", ["", "a\0b"])
def test_an_argument_that_is_no_path_is_an_error(argument: str) -> None:
    with pytest.raises(ValueError, match="empty or holds a NUL"):
        parse_grant(argument)


def test_a_directory_named_twice_is_read_only_if_one_of_them_says_so(tmp_path: Path) -> None:
    assert parse_grants([str(tmp_path), f"{tmp_path}:ro"]) == (Grant(str(tmp_path), writable=False),)


def test_a_read_only_server_has_no_writable_grants(tmp_path: Path) -> None:
    assert parse_grants([f"{tmp_path}:rw"], read_only=True) == (Grant(str(tmp_path), writable=False),)


# --- what the client sends ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "windows", "path"),
    [
        ("file:///home/u/my%20notes", False, "/home/u/my notes"),
        ("file://localhost/home/u", False, "/home/u"),
        ("file:/home/u", False, "/home/u"),
        ("FILE:///home/u/", False, "/home/u"),
        ("file:///home/100%/c#", False, "/home/100%/c#"),
        ("file:///gr%C3%BC%C3%9Fe", False, "/grüße"),
        ("file:///c%3A/Users/me", True, "c:\\Users\\me"),
        ("file:///C:/Users/me", True, "C:\\Users\\me"),
        ("file:///C:/", True, "C:\\"),
        ("file://server/share/x", True, "\\\\server\\share\\x"),
    ],
)
def test_a_file_uri_is_read_as_a_path(sent: str, windows: bool, path: str) -> None:
    assert parse_root(sent, windows=windows) == ClientRoot(sent, path)


@pytest.mark.parametrize(
    ("sent", "windows", "problem"),
    [
        ("https://example.org/", False, "is not a file: URI"),
        ("", False, "is not a file: URI"),
        ("/home/u", False, "is not a file: URI"),
        ("file://", False, "names no absolute path"),
        ("file:home", False, "names no absolute path"),
        ("file:///a%00b", False, "holds a NUL byte"),
        ("file://elsewhere/home", False, "names another computer"),
        ("file:///C:/Users", False, "is a Windows path"),
        ("file:///\ud800", False, "is not valid Unicode"),
        ("file:///home/u", True, "names no drive"),
    ],
)
def test_a_root_that_cannot_be_used_says_why(sent: str, windows: bool, problem: str) -> None:
    assert parse_root(sent, windows=windows) == ClientRoot(sent, problem=problem)


# --- what comes of both ---------------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    for name in ("data/one/deep", "data/two", "data_evil", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "alias").symlink_to(tmp_path / "data" / "one")
    return tmp_path


@pytest.mark.parametrize(
    ("configured", "roots", "mode", "expected"),
    [
        (["data"], [], "narrow", [("data", True, "configured")]),
        (["data"], ["data/one"], "narrow", [("data/one", True, "client root inside configured {}/data")]),
        (
            ["data"],
            ["data/one", "data/two"],
            "narrow",
            [
                ("data/one", True, "client root inside configured {}/data"),
                ("data/two", True, "client root inside configured {}/data"),
            ],
        ),
        (["data"], ["data"], "narrow", [("data", True, "configured")]),
        (["data"], ["."], "narrow", [("data", True, "configured")]),
        (["data"], ["other"], "narrow", [("data", True, "configured")]),
        (["data"], ["data_evil"], "narrow", [("data", True, "configured")]),
        (["data"], ["gone"], "narrow", [("data", True, "configured")]),
        (["data"], ["alias"], "narrow", [("alias", True, "client root inside configured {}/data")]),
        (["data:ro"], ["data/one"], "narrow", [("data/one", False, "client root inside configured {}/data")]),
        (
            ["data", "other"],
            ["data/one"],
            "narrow",
            [("data/one", True, "client root inside configured {}/data"), ("other", True, "configured")],
        ),
        (
            ["data", "data/one:ro"],
            ["data/one/deep"],
            "narrow",
            [("data/one/deep", False, "client root inside configured {}/data")],
        ),
        ([], ["data/one"], "narrow", [("data/one", True, "client root")]),
        ([], [], "narrow", []),
        (["data"], ["other"], "ignore", [("data", True, "configured")]),
        (["data"], ["data/one"], "ignore", [("data", True, "configured")]),
        ([], ["data"], "ignore", []),
        (
            ["data"],
            ["other"],
            "replace",
            [("other", True, "client root, in place of the configured directories")],
        ),
        (["data"], [], "replace", [("data", True, "configured")]),
        (["data"], ["gone"], "replace", [("data", True, "configured")]),
        (
            ["data:ro"],
            ["data/one"],
            "replace",
            [("data/one", False, "client root, in place of the configured directories")],
        ),
    ],
)
def test_roots_narrow_what_is_configured(
    disk: Path,
    configured: list[str],
    roots: list[str],
    mode: str,
    expected: list[tuple[str, bool, str]],
) -> None:
    grants = parse_grants(f"{disk}/{name}" for name in configured)
    with Places(grants, [uri(disk / name) for name in roots], mode=mode) as places:  # pyright: ignore[reportArgumentType] - from the table
        assert places.listing() == tuple(
            Listed(str(disk / name), writable, reason.format(disk)) for name, writable, reason in expected
        )


def test_a_read_only_server_makes_the_roots_read_only(disk: Path) -> None:
    with Places((), [uri(disk / "data")], read_only=True) as places:
        assert [place.writable for place in places.current()] == [False]


def test_a_root_that_lies_elsewhere_is_ignored_with_the_reason(disk: Path) -> None:
    with Places([Grant(str(disk / "data"))], [uri(disk / "other"), "ftp://x", uri(disk / "gone")]) as places:
        assert {(root.uri, root.problem) for root in places.ignored()} == {
            (uri(disk / "other"), "is not inside a configured directory"),
            ("ftp://x", "is not a file: URI"),
            (uri(disk / "gone"), "does not exist"),
        }


def test_the_same_directory_in_two_spellings_is_listed_once(disk: Path) -> None:
    with Places(parse_grants([f"{disk}/data/one", f"{disk}/alias:ro"])) as places:
        assert places.listing() == (Listed(f"{disk}/data/one", False, "configured"),)


# --- directories that come and go -----------------------------------------------------------------------------------


def test_a_missing_directory_is_listed_with_the_reason(disk: Path) -> None:
    with Places([Grant(str(disk / "later"), writable=False)]) as places:
        assert places.listing() == (Listed(f"{disk}/later", False, "configured", "does not exist"),)


def test_a_missing_configured_directory_does_not_hand_the_decision_to_the_client(disk: Path) -> None:
    with Places([Grant(str(disk / "later"))], [uri(disk / "other")]) as places:
        assert places.current() == ()


def test_a_directory_that_appears_later_is_picked_up(disk: Path) -> None:
    with Places([Grant(str(disk / "later"))]) as places:
        (disk / "later").mkdir()
        assert places.listing() == (Listed(f"{disk}/later", True, "configured"),)


def test_a_root_that_appears_later_narrows_from_then_on(disk: Path) -> None:
    with Places([Grant(str(disk / "data"))], [uri(disk / "data" / "three")]) as places:
        (disk / "data" / "three").mkdir()
        assert [place.path for place in places.current()] == [f"{disk}/data/three"]


def test_a_narrowed_directory_that_is_deleted_does_not_widen_the_places(disk: Path) -> None:
    with Places([Grant(str(disk / "data"))], [uri(disk / "data" / "two")]) as places:
        (disk / "data" / "two").rmdir()
        assert [entry.problem for entry in places.listing()] == ["does not exist"]


def test_a_file_that_took_the_place_of_a_directory_is_listed_as_a_problem(disk: Path) -> None:
    (disk / "file").touch()
    with Places([Grant(str(disk / "file"))]) as places:
        assert places.listing() == (Listed(f"{disk}/file", True, "configured", "is not a directory"),)


def test_without_any_place_the_refusal_says_how_to_grant_one() -> None:
    with Places(()) as places, pytest.raises(ToolError) as refusal:
        places.resolve("/etc/passwd")
    assert str(refusal.value) == (
        "No directory is allowed: pass a directory on the server's command line, or use a client that sends roots."
    )


def test_when_the_only_place_is_missing_the_refusal_names_it(disk: Path) -> None:
    with Places([Grant(f"{disk}/later")]) as places, pytest.raises(ToolError) as refusal:
        places.resolve("x")
    assert str(refusal.value) == (
        f"No allowed directory is available ({disk}/later does not exist): create it, or allow another one."
    )
