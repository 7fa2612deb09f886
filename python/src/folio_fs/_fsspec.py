"""Volumes for fsspec, and so for pandas, dask, xarray, zarr and others."""

from __future__ import annotations

import contextlib
import io
import os
import stat as _stat
import threading
import time
from datetime import datetime, timezone
from typing import Any

from fsspec.spec import AbstractFileSystem
from fsspec.transaction import Transaction
from fsspec.utils import infer_storage_options

from ._tables import CHUNK
from ._volume import Volume
from ._writer import Writer

_KINDS = {_stat.S_IFREG: "file", _stat.S_IFDIR: "directory", _stat.S_IFLNK: "link"}


class _Undo(Exception):
    """Ends a transaction without its changes."""


class _Transaction(Transaction):  # type: ignore[misc]
    """A transaction of fsspec that is one of the volume.

    All that its thread does is in it, also directories, moves and removals, and is seen by this thread at once. A file that
    another thread opens to write meanwhile is written at the end.
    """

    thread: int | None = None  # whose transaction it is, once it has begun

    def start(self) -> None:
        if self.thread is not None:
            raise RuntimeError("a transaction has begun already")
        self._block = self.fs.volume.transaction()
        self._block.__enter__()
        self.thread = threading.get_ident()
        super().start()

    def complete(self, commit: bool = True) -> None:
        if self.thread != threading.get_ident():
            raise RuntimeError("a transaction ends in the thread where it began")
        fs = self.fs
        try:
            with contextlib.suppress(_Undo), contextlib.ExitStack() as stack:
                stack.push(self._block)
                super().complete(commit)
                if not commit:
                    raise _Undo
        finally:
            fs._intrans, fs._transaction = False, None


def _absolute(fo: str | os.PathLike[str]) -> str:
    path = infer_storage_options(os.fspath(fo))["path"]
    return os.path.abspath(path) if path else ""


class _Absolute(type(AbstractFileSystem)):  # type: ignore[misc]
    """Makes the path of the volume absolute before fsspec keeps it: for its cache of file systems, and to pickle them."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if args:
            args = (_absolute(args[0]), *args[1:])
        elif "fo" in options:
            options["fo"] = _absolute(options["fo"])
        return super().__call__(*args, **options)


class FolioFileSystem(AbstractFileSystem, metaclass=_Absolute):  # type: ignore[misc]
    """The files of a volume.

    A URL names the volume and the path in it, with ``::`` between them: ``folio://img/logo.png::/data/site.folio``. Or
    the volume is given by name: ``fsspec.filesystem("folio", fo="/data/site.folio")``. Paths in answers begin with a slash.

    fo:        the path of the volume
    snapshot:  the name of a snapshot, which is read instead
    writable:  True allows changes
    """

    protocol = "folio"
    root_marker = "/"
    _transaction: _Transaction | None

    def __init__(
        self,
        fo: str | os.PathLike[str] = "",
        snapshot: str | None = None,
        writable: bool = False,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if target_protocol not in (None, "file", "local"):
            raise ValueError(f"a volume is a file on disk, not at {target_protocol}://")
        self.volume = Volume(fo, writable=writable, snapshot=snapshot)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(p) for p in path]
        return "/" + os.fspath(path).removeprefix("folio://").strip("/")

    def _info(self, path: str, *, follow: bool = True) -> dict[str, Any]:
        s = self.volume.stat(path, follow_symlinks=follow)
        return {
            "name": path,
            "size": s.st_size if _stat.S_ISREG(s.st_mode) else 0,
            "type": _KINDS.get(_stat.S_IFMT(s.st_mode), "other"),
            "mode": s.st_mode,
            "ino": s.st_ino,
            "nlink": s.st_nlink,
            "uid": s.st_uid,
            "gid": s.st_gid,
            "created": s.st_ctime,
            "mtime": s.st_mtime,
        }

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return the attributes of a file."""
        return self._info(self._strip_protocol(path))

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """Return the files in a directory."""
        path = self._strip_protocol(path)
        if not self.volume.is_dir(path):
            info = self._info(path)
            return [info] if detail else [path]
        names = [f"{path.rstrip('/')}/{name}" for name in self.volume.listdir(path)]
        return [self._info(name, follow=False) for name in names] if detail else names

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        """Return the content of a file, or a part of it."""
        path = self._strip_protocol(path)
        if start is None and end is None:
            return self.volume.read_bytes(path)
        with self.volume.open(path) as f:
            size = f.seek(0, os.SEEK_END)
            first, last = (x if x is None or x >= 0 else max(size + x, 0) for x in (start, end))
            f.seek(first or 0)
            return f.read(max((size if last is None else last) - (first or 0), 0))

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        """Give a file a content. Its directory is made if there is none."""
        path = self._strip_protocol(path)
        with self.volume.transaction():
            if mode == "create" and self.volume.exists(path):
                raise FileExistsError(path)
            self._make_parent(path)
            self.volume.write_bytes(path, value)

    def _make_parent(self, path: str) -> None:
        parent = path.rpartition("/")[0]
        if parent:  # not the root
            self.volume.mkdir(parent, parents=True, exist_ok=True)

    @property
    def transaction(self) -> _Transaction:
        """The transaction of a "with" block, or a new one."""
        if self._transaction is None:
            self._transaction = _Transaction(self)
        return self._transaction

    def start_transaction(self) -> Any:
        """Begin a transaction, as "with fs.transaction:" does. end_transaction ends it."""
        self.transaction.start()
        return self.transaction

    def _open(self, path: str, mode: str = "rb", *, autocommit: bool = True, **_: Any) -> Any:
        path = self._strip_protocol(path)
        if mode == "rb":
            return _Reader(self.volume, path)
        if mode in ("wb", "ab", "xb"):
            return _Writer(self, path, mode, autocommit)
        raise ValueError(f"a file of a volume cannot be opened with mode {mode!r}")

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Make a directory."""
        self.volume.mkdir(self._strip_protocol(path), parents=create_parents)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Make a directory and those that lead to it."""
        path = self._strip_protocol(path)
        if path != "/" or not exist_ok:
            self.volume.mkdir(path, parents=True, exist_ok=exist_ok)

    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""
        path = self._strip_protocol(path)
        if not self.volume.is_dir(path):
            raise NotADirectoryError(path)
        self.volume.remove(path)

    def rm_file(self, path: str) -> None:
        """Remove a file."""
        self.volume.remove(self._strip_protocol(path))

    _rm = rm_file

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Remove files, and with recursive directories with all that is in them."""
        if maxdepth is not None:
            super().rm(path, recursive=recursive, maxdepth=maxdepth)
            return
        with self.volume.transaction():
            for p in self.expand_path(path):
                (self.volume.remove_tree if recursive else self.volume.remove)(self._strip_protocol(p))

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Copy a file, or make a directory of the same name."""
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        if self.volume.is_dir(path1):
            self.makedirs(path2, exist_ok=True)
        else:
            self.pipe_file(path2, self.volume.read_bytes(path1))

    def mv(self, path1: str, path2: str, recursive: bool = False, maxdepth: int | None = None, **_: Any) -> None:
        """Move a file or a directory."""
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        if self.volume.is_dir(path2):
            path2 = f"{path2}/{path1.rpartition('/')[2]}"
        self.volume.rename(path1, path2)

    def created(self, path: str) -> Any:
        """Return the time of the last change of the attributes, as volumes keep no other."""
        return self._time(path, "created")

    def modified(self, path: str) -> Any:
        """Return the time of the last change."""
        return self._time(path, "mtime")

    def _time(self, path: str, which: str) -> Any:
        return datetime.fromtimestamp(self.info(path)[which], tz=timezone.utc)

    def chmod(self, path: str, mode: int) -> None:
        """Set the permissions of a file."""
        self.volume.chmod(self._strip_protocol(path), mode)

    def touch(self, path: str, truncate: bool = True, **_: Any) -> None:
        """Make an empty file; or, without truncate, set the time of the last change."""
        path = self._strip_protocol(path)
        if truncate or not self.volume.exists(path):
            self.pipe_file(path, b"")
        else:
            self.volume.utime(path, time.time_ns())


class _Reader(io.BufferedReader):
    """A file that is open for reading, with what fsspec asks of one beyond io."""

    def __init__(self, volume: Volume, path: str) -> None:
        super().__init__(volume.open(path).detach(), CHUNK)
        self.path = path

    @property
    def size(self) -> int:
        """The number of bytes, as it is now."""
        here = self.tell()
        end = self.seek(0, io.SEEK_END)
        self.seek(here)
        return end


class _Writer(Writer):
    """A Writer whose directory is made if there is none.

    Without autocommit it is part of a transaction of the file system, which calls commit or discard at its end.
    """

    def __init__(self, fs: FolioFileSystem, path: str, mode: str, autocommit: bool) -> None:
        super().__init__(fs.volume, path, mode)
        self._fs, self._autocommit = fs, autocommit
        self._data: bytes | None = None  # closed, and not written yet

    def _finish(self, data: bytes) -> None:
        self._data = data
        if self._autocommit or self._fs.transaction.thread == threading.get_ident():
            self.commit()

    def commit(self) -> None:
        """Close it, and write it if that was not done yet."""
        self.close()
        data, self._data = self._data, None
        if data is not None:
            self._fs.pipe_file(self._path, data, mode="create" if self._mode == "xb" else "overwrite")

    def discard(self) -> None:
        """Close it, and write nothing."""
        self._data = None
        super().discard()
