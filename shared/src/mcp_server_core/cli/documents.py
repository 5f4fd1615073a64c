"""A host's configuration as text: reads it, and changes one entry of it while everything else stays as it is.

One pair of functions a format, each on a library made for it; JSON with comments is jsonc.py. Knows no files.
"""

from collections.abc import Mapping
from io import StringIO
from typing import TYPE_CHECKING, Any

from . import jsonc
from .hosts import Entry, Format

if TYPE_CHECKING:
    from ruamel.yaml import YAML


class Broken(Exception):
    """The document cannot be read; it is never changed then."""


def read_section(text: str, format: Format, section: str) -> dict[str, Any]:
    """The servers that a document names; none if it has no such section."""
    document = _parse(text, format)
    if document is None:
        return {}
    found: Any = document.get(section, {}) if isinstance(document, Mapping) else None
    if found is None and isinstance(document, Mapping):
        return {}  # a key without a value, as YAML has it
    if not isinstance(found, Mapping):
        where = section if isinstance(document, Mapping) else "the document"
        raise Broken(f"{where} is not a table of names and values")
    return dict(found)


def put_entry(text: str, format: Format, section: str, name: str, entry: Entry) -> str:
    """The document with this entry. What else stands in an entry of that name stays: it is the user's."""
    before = read_section(text, format, section).get(name)
    kept = before if isinstance(before, Mapping) else None
    match format:
        case "json":
            changed = _put_json(text, section, name, entry, kept)
        case "toml":
            changed = _put_toml(text, section, name, entry)
        case "yaml":
            changed = _put_yaml(text, section, name, entry)
    expected = {**(kept or {}), **entry}
    if read_section(changed, format, section).get(name) != expected:
        raise Broken("the entry would not be read back as it was written")
    return changed


def drop_entry(text: str, format: Format, section: str, name: str) -> str:
    """The document without the entry; unchanged if there is none."""
    if name not in read_section(text, format, section):
        return text
    match format:
        case "json":
            return jsonc.remove(text, [section, name])
        case "toml":
            import tomlkit

            document = tomlkit.parse(text)
            del document[section][name]  # pyright: ignore[reportIndexIssue] - it was just read as a table
            return tomlkit.dumps(document)
        case "yaml":
            yaml, tree = _load_yaml(text)
            del tree[section][name]
            return _dump_yaml(yaml, tree)


def show(format: Format, section: str, name: str, entry: Entry) -> str:
    """A document with nothing but this entry, to be pasted."""
    return put_entry("", format, section, name, entry)


def _parse(text: str, format: Format) -> Any:
    try:
        match format:
            case "json":
                return jsonc.parse(text)
            case "toml":
                import tomlkit

                return tomlkit.parse(text).unwrap()
            case "yaml":
                return _load_yaml(text)[1]
    except Exception as error:  # noqa: BLE001 - each library has errors of its own
        raise Broken(" ".join(str(error).split())[:200]) from None


def _put_json(text: str, section: str, name: str, entry: Entry, kept: Mapping[str, Any] | None) -> str:
    if not kept:
        return jsonc.put(text, [section, name], entry)
    for key, value in entry.items():
        if kept.get(key) != value:
            text = jsonc.put(text, [section, name, key], value)
    return text


def _put_toml(text: str, section: str, name: str, entry: Entry) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    if section not in document:
        document[section] = tomlkit.table(is_super_table=True)
    servers: Any = document[section]
    if isinstance(servers.get(name), Mapping):
        servers[name].update(entry)
    else:
        table = tomlkit.table()
        table.update(entry)
        servers[name] = table
    return tomlkit.dumps(document)


def _put_yaml(text: str, section: str, name: str, entry: Entry) -> str:
    yaml, tree = _load_yaml(text)
    if tree is None:
        tree = {}
    if tree.get(section) is None:
        tree[section] = {}
    servers = tree[section]
    if isinstance(servers.get(name), Mapping):
        servers[name].update(entry)
    else:
        servers[name] = dict(entry)
    return _dump_yaml(yaml, tree)


def _load_yaml(text: str) -> tuple["YAML", Any]:
    from ruamel.yaml import YAML

    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 4096  # lines are left as long as they are
    return yaml, yaml.load(text)


def _dump_yaml(yaml: "YAML", tree: Any) -> str:
    stream = StringIO()
    yaml.dump(tree, stream)
    return stream.getvalue()
