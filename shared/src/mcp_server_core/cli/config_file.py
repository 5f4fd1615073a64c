"""One configuration file on disk: read as text, backed up, and replaced as a whole or not at all."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from ..errors import ToolError
from ..places import Grant, Places, create_exclusive, replace, turn
from ..places.spot import Spot

LARGEST = 64 * 1024 * 1024
_MARK = b"\xef\xbb\xbf"  # what some editors of Windows put in front of UTF-8


class Unusable(Exception):
    """The file cannot be read or written; the text says why."""


class Changed(NamedTuple):
    """What became of a file: whether anything was written, and the copy of what was there before."""

    written: bool
    backup: Path | None = None


class _Content(NamedTuple):
    """The text of a file with plain newlines, and what has to be put back around it."""

    text: str
    digest: str | None = None  # None where there is no file
    mark: bytes = b""
    windows: bool = False

    def with_text(self, text: str) -> bytes:
        return self.mark + (text.replace("\n", "\r\n") if self.windows else text).encode("utf-8")


class ConfigFile:
    """A file that a host reads. It need not exist."""

    def __init__(self, path: Path) -> None:
        self.shown = path
        # Settings are often links into a folder of dotfiles: the file itself is written, the link stays.
        self._path = Path(os.path.realpath(path))

    def read(self) -> str:
        """Its text; empty where there is no file."""
        return self._read().text

    def change(self, edit: Callable[[str], str]) -> Changed:
        """Write what `edit` makes of the text. Other installations wait meanwhile; if the host writes, nothing is done."""
        before = self._read()
        if edit(before.text) == before.text:
            return Changed(written=False)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with Places([Grant(str(self._path.parent))]) as places:
                spot = places.resolve(str(self._path))
                with turn(spot):
                    before = self._read()
                    return self._write(spot, before, edit(before.text))
        except ToolError as error:
            raise Unusable(str(error)) from None
        except OSError as error:
            raise Unusable(f"{self.shown} cannot be written: {error.strerror}") from None

    def _read(self) -> _Content:
        try:
            found = self._path.stat()
            if not stat.S_ISREG(found.st_mode):
                raise Unusable(f"{self.shown} is not a file")
            if found.st_size > LARGEST:
                raise Unusable(f"{self.shown} is larger than {LARGEST >> 20} MiB")
            data = self._path.read_bytes()
        except FileNotFoundError:
            return _Content("")
        except OSError as error:
            raise Unusable(f"{self.shown} cannot be read: {error.strerror}") from None
        try:
            text = data.removeprefix(_MARK).decode("utf-8")
        except UnicodeDecodeError:
            raise Unusable(f"{self.shown} is not UTF-8 text") from None
        windows = 0 < text.count("\n") == text.count("\r\n")
        return _Content(
            text.replace("\r\n", "\n") if windows else text,
            sha256(data).hexdigest(),
            _MARK if data.startswith(_MARK) else b"",
            windows,
        )

    def _write(self, spot: Spot, before: _Content, text: str) -> Changed:
        if text == before.text:
            return Changed(written=False)
        data = before.with_text(text)
        if before.digest is None:
            create_exclusive(spot, data, mode=0o600)  # variables of an entry may be secrets
            return Changed(written=True)
        if not self._path.stat().st_mode & stat.S_IWUSR:
            # The system lets an administrator write all the same.
            raise Unusable(
                f"{self.shown} is read-only: make it writable, or use --print and add the entry by hand"
            )
        backup = self._back_up()
        try:
            replace(spot, data, expected=before.digest)
        except BaseException:
            with suppress(OSError):
                backup.unlink()
            raise
        return Changed(written=True, backup=backup)

    def _back_up(self) -> Path:
        """A copy beside the file, never over another one, and readable by nobody who may not read the file."""
        stamp = f"{datetime.now().astimezone():%Y%m%d-%H%M%S}"
        for number in range(1000):
            extra = f"-{number}" if number else ""
            backup = self._path.with_name(f"{self._path.name}.{stamp}{extra}.bak")
            try:
                fd = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                continue
            with os.fdopen(fd, "wb") as copy:
                copy.write(self._path.read_bytes())
                copy.flush()
                os.fsync(copy.fileno())
            backup.chmod(stat.S_IMODE(self._path.stat().st_mode))
            return backup
        raise Unusable(f"{self.shown} has a thousand backups of this second")
