"""Files that are open for writing."""

from __future__ import annotations

import errno
import io
import os
from typing import Any

from ._volume import Volume


class Writer(io.BytesIO):
    """A file that is written as a whole when it is closed, and not at all if its block ends in an exception.

    mode:  wb replaces the content, ab adds to it, xb wants no such file
    """

    def __init__(self, volume: Volume, path: str, mode: str) -> None:
        super().__init__()
        self._volume, self._path, self._mode = volume, path, mode
        if not volume.writable:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        self._must_be_new()
        if volume.is_dir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if mode == "ab" and volume.exists(path):
            self.write(volume.read_bytes(path))

    def _must_be_new(self) -> None:
        if self._mode == "xb" and self._volume.exists(self._path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self._path)

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            self.discard()
        self.close()

    def close(self) -> None:
        if not self.closed:
            data = self.getvalue()
            super().close()
            self._finish(data)

    def _finish(self, data: bytes) -> None:
        with self._volume.transaction():
            self._must_be_new()
            self._volume.write_bytes(self._path, data)

    def discard(self) -> None:
        """Close it, and write nothing."""
        super().close()


class TextWriter(io.TextIOWrapper):
    """A Writer for text."""

    buffer: Writer

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            self.buffer.discard()
        self.close()
