"""One configuration file on disk: read as text, backed up, and replaced as a whole or not at all."""

import os
import stat
from datetime import datetime
from pathlib import Path

from ..errors import ToolError
from ..places import Grant, Places, create_exclusive, replace

LARGEST = 64 * 1024 * 1024


class Unusable(Exception):
    """The file cannot be read or written; the text says why."""


class ConfigFile:
    """A file that a host reads. It need not exist."""

    def __init__(self, path: Path) -> None:
        self.shown = path
        # Settings are often links into a folder of dotfiles: the file itself is written, the link stays.
        self._path = Path(os.path.realpath(path))
        self._digest: str | None = None

    def read(self) -> str:
        """Its text; empty where there is no file."""
        from hashlib import sha256

        try:
            if not stat.S_ISREG(self._path.stat().st_mode):
                raise Unusable(f"{self.shown} is not a file")
            data = self._path.read_bytes()
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise Unusable(f"{self.shown} cannot be read: {error.strerror}") from None
        if len(data) > LARGEST:
            raise Unusable(f"{self.shown} is larger than {LARGEST >> 20} MiB")
        self._digest = sha256(data).hexdigest()
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise Unusable(f"{self.shown} is not UTF-8 text") from None

    def write(self, text: str) -> Path | None:
        """Replace what `read` gave, unless somebody else did meanwhile; the backup, if there was anything to keep."""
        try:
            if self._digest is not None:
                return self._replace(text)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with Places([Grant(str(self._path.parent))]) as places:
                create_exclusive(places.resolve(str(self._path)), text.encode("utf-8"))
        except ToolError as error:
            raise Unusable(str(error)) from None
        except OSError as error:
            raise Unusable(f"{self.shown} cannot be written: {error.strerror}") from None
        return None

    def _replace(self, text: str) -> Path:
        if (
            not self._path.stat().st_mode & stat.S_IWUSR
        ):  # the system lets an administrator write all the same
            raise Unusable(
                f"{self.shown} is read-only: make it writable, or use --print and add the entry by hand"
            )
        backup = self._back_up()
        with Places([Grant(str(self._path.parent))]) as places:
            replace(places.resolve(str(self._path)), text.encode("utf-8"), expected=self._digest)
        return backup

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
            backup.chmod(stat.S_IMODE(self._path.stat().st_mode))
            return backup
        raise Unusable(f"{self.shown} has a thousand backups of this second")
