"""Paths of a volume with the methods of pathlib."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO

from ._volume import Volume


class VolumePath:
    """A path in a volume.

    >>> p = VolumePath(volume) / "img" / "logo.png"  # doctest: +SKIP
    >>> p.read_bytes()  # doctest: +SKIP
    """

    def __init__(self, volume: Volume, path: str | PurePosixPath = "") -> None:
        self.volume = volume
        self._pure = PurePosixPath(str(path).strip("/"))

    def __truediv__(self, name: str) -> VolumePath:
        return VolumePath(self.volume, self._pure / name)

    def __str__(self) -> str:
        return "" if str(self._pure) == "." else str(self._pure)

    def __repr__(self) -> str:
        return f"VolumePath({self.volume!r}, {str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VolumePath) and (self.volume.path, self._pure) == (other.volume.path, other._pure)

    def __hash__(self) -> int:
        return hash((self.volume.path, self._pure))

    name = property(lambda self: self._pure.name)
    stem = property(lambda self: self._pure.stem)
    suffix = property(lambda self: self._pure.suffix)
    parts = property(lambda self: self._pure.parts)

    @property
    def parent(self) -> VolumePath:
        """The directory of the path."""
        return VolumePath(self.volume, self._pure.parent)

    def with_name(self, name: str) -> VolumePath:
        """Return the path with another last name."""
        return VolumePath(self.volume, self._pure.with_name(name))

    def with_suffix(self, suffix: str) -> VolumePath:
        """Return the path with another suffix."""
        return VolumePath(self.volume, self._pure.with_suffix(suffix))

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the attributes of the file."""
        return self.volume.stat(str(self), follow_symlinks=follow_symlinks)

    def exists(self) -> bool:
        """Report whether there is such a file."""
        return self.volume.exists(str(self))

    def is_dir(self) -> bool:
        """Report whether it is a directory."""
        return self.volume.is_dir(str(self))

    def is_file(self) -> bool:
        """Report whether it is a regular file."""
        return self.volume.is_file(str(self))

    def iterdir(self) -> Iterator[VolumePath]:
        """Yield the paths in the directory."""
        for name in self.volume.listdir(str(self)):
            yield self / name

    def rglob(self, pattern: str) -> Iterator[VolumePath]:
        """Yield the paths below the directory whose last names match a pattern."""
        from fnmatch import fnmatchcase

        for top, dirs, files in self.volume.walk(str(self)):
            for name in sorted(dirs + files):
                if fnmatchcase(name, pattern):
                    yield VolumePath(self.volume, top) / name

    def open(self) -> BinaryIO:
        """Open the file for reading."""
        return self.volume.open(str(self))

    def read_bytes(self) -> bytes:
        """Return the content."""
        return self.volume.read_bytes(str(self))

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return the content as a text."""
        return self.volume.read_text(str(self), encoding)

    def write_bytes(self, data: bytes) -> None:
        """Give the file a content."""
        self.volume.write_bytes(str(self), data)

    def write_text(self, text: str, encoding: str = "utf-8") -> None:
        """Give the file a content."""
        self.volume.write_text(str(self), text, encoding)

    def mkdir(self, mode: int = 0o755, parents: bool = False, exist_ok: bool = False) -> None:
        """Make the directory."""
        self.volume.mkdir(str(self), mode=mode, parents=parents, exist_ok=exist_ok)

    def unlink(self) -> None:
        """Remove the file."""
        self.volume.remove(str(self))

    def rmdir(self) -> None:
        """Remove the directory, which must be empty."""
        self.volume.remove(str(self))

    def rename(self, target: str | VolumePath) -> VolumePath:
        """Move the file."""
        self.volume.rename(str(self), str(target))
        return VolumePath(self.volume, str(target))

    def readlink(self) -> str:
        """Return the target of a symbolic link."""
        return self.volume.readlink(str(self))

    def symlink_to(self, target: str) -> None:
        """Make the path a symbolic link."""
        self.volume.symlink(target, str(self))
