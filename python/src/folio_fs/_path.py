"""Paths of a volume with the methods of pathlib."""

from __future__ import annotations

import errno
import functools
import io
import os
import re
import stat as _stat
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import IO, BinaryIO, Literal, TextIO, overload

from ._volume import StrPath, Volume
from ._writer import TextWriter, Writer


@functools.total_ordering
class VolumePath:
    """A path in a volume.

    >>> p = VolumePath(volume) / "img" / "logo.png"  # doctest: +SKIP
    >>> p.read_bytes()  # doctest: +SKIP
    """

    def __init__(self, volume: Volume, path: StrPath = "") -> None:
        self.volume = volume
        self._pure = PurePosixPath(str(PurePosixPath(path)).strip("/"))

    def __truediv__(self, name: StrPath) -> VolumePath:
        return VolumePath(self.volume, self._pure / name)

    def joinpath(self, *names: StrPath) -> VolumePath:
        """Return the path with names at its end."""
        return VolumePath(self.volume, self._pure.joinpath(*names))

    def __str__(self) -> str:
        return "" if str(self._pure) == "." else str(self._pure)

    def __repr__(self) -> str:
        return f"VolumePath({self.volume!r}, {str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VolumePath) and (self.volume.path, self._pure) == (other.volume.path, other._pure)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, VolumePath):
            return NotImplemented
        return (self.volume.path, self._pure) < (other.volume.path, other._pure)

    def __hash__(self) -> int:
        return hash((self.volume.path, self._pure))

    @property
    def name(self) -> str:
        """The last name."""
        return self._pure.name

    @property
    def stem(self) -> str:
        """The last name without its suffix."""
        return self._pure.stem

    @property
    def suffix(self) -> str:
        """The suffix of the last name, with its dot."""
        return self._pure.suffix

    @property
    def suffixes(self) -> list[str]:
        """The suffixes of the last name."""
        return self._pure.suffixes

    @property
    def parts(self) -> tuple[str, ...]:
        """The names."""
        return self._pure.parts

    @property
    def parents(self) -> tuple[VolumePath, ...]:
        """The directories that lead to the path, its own first."""
        return tuple(VolumePath(self.volume, p) for p in self._pure.parents)

    @property
    def parent(self) -> VolumePath:
        """The directory of the path."""
        return VolumePath(self.volume, self._pure.parent)

    def with_name(self, name: str) -> VolumePath:
        """Return the path with another last name."""
        return VolumePath(self.volume, self._pure.with_name(name))

    def with_stem(self, stem: str) -> VolumePath:
        """Return the path with another last name and the same suffix."""
        return VolumePath(self.volume, self._pure.with_stem(stem))

    def with_suffix(self, suffix: str) -> VolumePath:
        """Return the path with another suffix."""
        return VolumePath(self.volume, self._pure.with_suffix(suffix))

    def as_posix(self) -> str:
        """Return the path as a text."""
        return str(self)

    def relative_to(self, other: str | VolumePath) -> PurePosixPath:
        """Return the path from another one, which leads to it. It is of no volume."""
        return self._pure.relative_to(self._other(other))

    def is_relative_to(self, other: str | VolumePath) -> bool:
        """Report whether another path leads to it."""
        return self._pure.is_relative_to(self._other(other))

    def _other(self, other: str | VolumePath) -> PurePosixPath:
        if not isinstance(other, VolumePath):
            return VolumePath(self.volume, other)._pure
        if other.volume.path != self.volume.path:
            raise ValueError(f"{other!r} is of another volume than {self!r}")
        return other._pure

    def match(self, pattern: str) -> bool:
        """Report whether the path ends as a pattern says."""
        return self._pure.match(pattern)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the attributes of the file."""
        return self.volume.stat(str(self), follow_symlinks=follow_symlinks)

    def lstat(self) -> os.stat_result:
        """Return the attributes of the file, of a symbolic link its own."""
        return self.stat(follow_symlinks=False)

    def samefile(self, other: str | VolumePath) -> bool:
        """Report whether another path leads to the same file."""
        return self.stat().st_ino == self.volume.stat(str(self._other(other))).st_ino

    def exists(self) -> bool:
        """Report whether there is such a file."""
        return self.volume.exists(str(self))

    def is_dir(self) -> bool:
        """Report whether it is a directory."""
        return self.volume.is_dir(str(self))

    def is_file(self) -> bool:
        """Report whether it is a regular file."""
        return self.volume.is_file(str(self))

    def is_symlink(self) -> bool:
        """Report whether it is a symbolic link."""
        try:
            return _stat.S_ISLNK(self.lstat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def iterdir(self) -> Iterator[VolumePath]:
        """Yield the paths in the directory."""
        for name in self.volume.listdir(str(self)):
            yield self / name

    def walk(self) -> Iterator[tuple[VolumePath, list[str], list[str]]]:
        """Yield the directories below it, and it itself first, with the names of directories and of files in each."""
        for top, dirs, files in self.volume.walk(str(self)):
            yield VolumePath(self.volume, top), dirs, files

    def glob(self, pattern: str) -> Iterator[VolumePath]:
        """Yield the paths below the directory that match a pattern, whose part ** is any number of directories."""
        if pattern.startswith("/"):
            raise NotImplementedError("patterns begin without a slash")
        parts = PurePosixPath(pattern).parts
        if not parts:
            raise ValueError(f"{pattern!r} is no pattern")
        once = {p: None for p in self._select(parts)} if parts.count("**") > 1 else self._select(parts)
        yield from once

    def rglob(self, pattern: str) -> Iterator[VolumePath]:
        """Yield the paths at any depth below the directory that match a pattern."""
        return self.glob(f"**/{pattern}")

    def _select(self, parts: tuple[str, ...]) -> Iterator[VolumePath]:
        if not parts:
            yield self
            return
        first, rest = parts[0], parts[1:]
        if first == "**":
            for top, _, files in self.walk() if self.is_dir() else ():
                yield from top._select(rest)
                yield from (top / name for name in files if not rest)
        elif not re.search(r"[*?[]", first):
            p = self / first
            if p.exists() or p.is_symlink():
                yield from p._select(rest)
        elif self.is_dir():
            for p in self.iterdir():
                if fnmatchcase(p.name, first) and (not rest or p.is_dir()):
                    yield from p._select(rest)

    @overload
    def open(self, mode: Literal["rb", "wb", "ab", "xb"]) -> BinaryIO: ...

    @overload
    def open(
        self,
        mode: Literal["r", "w", "a", "x", "rt", "wt", "at", "xt"] = "r",
        *,
        encoding: str = "utf-8",
        errors: str | None = None,
        newline: str | None = None,
    ) -> TextIO: ...

    @overload
    def open(
        self, mode: str, *, encoding: str = "utf-8", errors: str | None = None, newline: str | None = None
    ) -> IO[str] | IO[bytes]: ...

    def open(
        self, mode: str = "r", *, encoding: str = "utf-8", errors: str | None = None, newline: str | None = None
    ) -> IO[str] | IO[bytes]:
        """Open the file, as a text unless the mode has a b.

        What is written is there when the file is closed, as a whole, and is not if its block ends in an exception.
        """
        kind = "".join(sorted(mode.replace("t", "")))
        if kind in ("r", "br"):
            reader = self.volume.open(str(self))
            return reader if "b" in mode else io.TextIOWrapper(reader, encoding, errors, newline)
        if kind not in ("w", "a", "x", "bw", "ab", "bx") or ("t" in mode and "b" in mode):
            raise ValueError(f"a file of a volume cannot be opened with mode {mode!r}")
        self._parent_must_be()
        writer = Writer(self.volume, str(self), kind.strip("b") + "b")
        return writer if "b" in mode else TextWriter(writer, encoding, errors, newline)

    def _parent_must_be(self) -> None:
        if not _stat.S_ISDIR(self.parent.stat().st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self))

    def read_bytes(self) -> bytes:
        """Return the content."""
        return self.volume.read_bytes(str(self))

    def read_text(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return the content as a text."""
        return self.read_bytes().decode(encoding, errors)

    def write_bytes(self, data: bytes | bytearray | memoryview) -> int:
        """Give the file a content, and return the number of bytes."""
        self.volume.write_bytes(str(self), data)
        return memoryview(data).nbytes

    def write_text(self, text: str, encoding: str = "utf-8", errors: str = "strict") -> int:
        """Give the file a content, and return the number of characters."""
        self.write_bytes(text.encode(encoding, errors))
        return len(text)

    def touch(self, mode: int = 0o644, exist_ok: bool = True) -> None:
        """Set the time of the last change to now, or make an empty file."""
        with self.volume.transaction():
            if not self.exists():
                self.volume.write_bytes(str(self), b"", mode=mode)
            elif exist_ok:
                self.volume.utime(str(self), time.time_ns())
            else:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(self))

    def chmod(self, mode: int) -> None:
        """Set the permissions of the file."""
        self.volume.chmod(str(self), mode)

    def mkdir(self, mode: int = 0o755, parents: bool = False, exist_ok: bool = False) -> None:
        """Make the directory."""
        self.volume.mkdir(str(self), mode=mode, parents=parents, exist_ok=exist_ok)

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the file, which must be no directory."""
        try:
            self._remove(False)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def rmdir(self) -> None:
        """Remove the directory, which must be empty."""
        self._remove(True)

    def _remove(self, directory: bool) -> None:
        with self.volume.transaction():
            if _stat.S_ISDIR(self.lstat().st_mode) != directory:
                code = errno.ENOTDIR if directory else errno.EISDIR
                raise OSError(code, os.strerror(code), str(self))
            self.volume.remove(str(self))

    def rename(self, target: str | VolumePath) -> VolumePath:
        """Move the file. A file of the new path is replaced."""
        to = VolumePath(self.volume, self._other(target))
        self.volume.rename(str(self), str(to))
        return to

    replace = rename

    def readlink(self) -> PurePosixPath:
        """Return the target of a symbolic link."""
        return PurePosixPath(self.volume.readlink(str(self)))

    def symlink_to(self, target: StrPath) -> None:
        """Make the path a symbolic link."""
        self.volume.symlink(target, str(self))
