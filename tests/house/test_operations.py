"""What the operations guide says about options and limits is what the code does."""

import re
from dataclasses import fields
from pathlib import Path

from mcp_server_core import cli
from mcp_server_core.transports.http.settings import HttpSettings

GUIDE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text("utf-8")
CHOICES = {"host", "port", "path", "public_url", "origins", "sessions"}


def test_the_table_of_limits_is_that_of_the_settings() -> None:
    written = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| .+ \|$", GUIDE, re.MULTILINE)
    assert written == [
        (field.name, str(field.default)) for field in fields(HttpSettings) if field.name not in CHOICES
    ]


def test_every_option_that_is_named_exists() -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", GUIDE))
    assert sorted(named - set(cli.parser("any", "1", None)._option_string_actions)) == []


def test_every_option_of_http_is_named() -> None:
    groups = cli.parser("any", "1", None)._action_groups
    (http,) = [group for group in groups if group.title == "options of --transport http"]
    offered = {option for action in http._group_actions for option in action.option_strings}
    assert sorted(option for option in offered if option not in GUIDE) == []


def test_the_proxy_waits_longer_than_the_server_is_silent() -> None:
    (seconds,) = re.findall(r"proxy_read_timeout (\d+)s;", GUIDE)
    assert int(seconds) > 2 * HttpSettings().ping_seconds


def test_the_proxy_lets_through_what_the_server_takes() -> None:
    (mebibytes,) = re.findall(r"client_max_body_size (\d+)m;", GUIDE)
    assert int(mebibytes) * 1024 * 1024 == HttpSettings().max_body
