"""A volume: one SQLite file that holds a tree of files."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import sqlite3
import stat as _stat
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from importlib import resources
from operator import index
from pathlib import PurePath
from typing import Any, SupportsIndex
from urllib.parse import quote

from . import _tables
from ._tables import CHUNK, DIRECTORY, FILE, ROOT, SYMLINK, Entry, Live, Node, Past, encode

_MAX_LINKS = 40
_MAX_JOINS = 16  # names that one statement follows
_MAX_DIRS = 1 << 16  # directories that a thread keeps in mind

_KINDS = {"file": _stat.S_IFREG, "dir": _stat.S_IFDIR, "symlink": _stat.S_IFLNK}
_MAKE = (  # with the number that view file gives
    "INSERT INTO file_make (parent, name, ino, mode, mtime_ns, now_ns, content) SELECT ?, CAST(? AS TEXT),"
    " max(coalesce((SELECT max(ino) FROM node), 1), coalesce((SELECT max(ino) FROM orphan), 1)) + 1, ?, ?, ?, ?"
)

StrPath = str | os.PathLike[str]

_process = os.getpid()  # asking each time would be a call of the system for each read


def _forked() -> None:
    global _process
    _process = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class _Local(threading.local):
    """What a thread has of a Volume."""

    tables: Live | Past
    pid: int | None = None  # the process that opened the connection
    depth: int = 0  # of transactions
    known: dict[str, int]  # directories by their paths, as of version
    version: int = -1  # of the volume: PRAGMA data_version
    dirs: dict[str, int] | None = None  # known, within a transaction that changes nothing


class Volume:
    """A tree of files in one SQLite file.

    Paths are relative to the root of the volume, with slashes: ``"img/logo.png"``. A slash at the front means the same
    root. They may be of pathlib, too. Symbolic links are followed as POSIX does it, and do not lead out of the volume. Bytes of
    names that are not UTF-8 are lone surrogates, as os has them.

    A Volume may be used by many threads, and in the child of a fork: each gets a connection of its own. Errors are those
    of os: FileNotFoundError, FileExistsError, IsADirectoryError, and so on, with the path.

    path:      the file
    writable:  False opens it for reading only
    snapshot:  the name of a snapshot: the volume as it was then, for reading only
    timeout:   how many seconds to wait for other writers
    """

    def __init__(
        self, path: str | os.PathLike[str], *, writable: bool = False, snapshot: str | None = None, timeout: float = 10
    ) -> None:
        if writable and snapshot is not None:
            raise ValueError("a snapshot cannot be written")
        path = os.fspath(path)
        if not os.path.exists(path):
            raise _error(errno.ENOENT, path)
        if os.path.isdir(path):
            raise OSError(errno.EISDIR, "a volume is a file, not a directory", path)
        self.path = os.path.abspath(path)  # other threads connect later, perhaps from another directory
        self.writable = writable
        self.snapshot = snapshot
        self._timeout = timeout
        self._local = _Local()
        self._closed = False
        self._tables()  # so that errors come now

    # Connections.

    def _connect(self) -> sqlite3.Connection:
        if not os.path.exists(self.path):
            raise _error(errno.ENOENT, self.path)
        uri = "file:" + quote(self.path) + ("?mode=rw" if self.writable else "?mode=ro")
        try:
            db = sqlite3.connect(uri, uri=True, timeout=self._timeout, isolation_level=None, cached_statements=64)
            application = db.execute("PRAGMA application_id").fetchone()[0]
            version = db.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.OperationalError as e:
            raise OSError(errno.EIO, f"{e}; a directory that cannot be written needs a volume without -wal", self.path) from e
        except sqlite3.DatabaseError as e:
            raise OSError(errno.EINVAL, f"not a volume: {e}", self.path) from e
        if application != _tables.APPLICATION_ID:
            db.close()
            raise OSError(errno.EINVAL, "not a volume of Folio", self.path)
        if version not in (1, 2):
            db.close()
            raise OSError(errno.EINVAL, f"the volume is of version {version}, this package reads versions 1 and 2; use a newer one", self.path)
        db.text_factory = _tables.decode
        db.execute("PRAGMA mmap_size = 1099511627776")
        db.execute("PRAGMA cache_size = -32768")
        if self.writable:
            db.execute("PRAGMA synchronous = NORMAL")
        return db

    def _tables(self) -> Live | Past:
        local = self._local
        if self._closed:
            raise ValueError("the volume is closed")
        if local.pid != _process:
            db = self._connect()
            local.tables = Past(db, self.snapshot) if self.snapshot is not None else Live(db)
            local.pid, local.depth, local.version, local.dirs = _process, 0, -1, None
        return local.tables

    def close(self) -> None:
        """Close the volume. Connections of other threads are closed as these end."""
        if self._local.pid == _process:
            self._local.tables.db.close()
        self._closed = True
        self._local = _Local()

    def __enter__(self) -> Volume:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        at = "" if self.snapshot is None else f", snapshot={self.snapshot!r}"
        return f"Volume({self.path!r}{at})"

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "writable": self.writable, "snapshot": self.snapshot, "timeout": self._timeout}

    def __setstate__(self, state: dict[str, Any]) -> None:
        path = state.pop("path")
        self.__init__(path, **state)  # type: ignore[misc]

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Volume]:
        """All calls of this thread within the block see one state of the volume, and are changes together or not at all.

        A block within a block is undone alone if it fails.
        """
        with self._state():
            if not self.writable:
                yield self
                return
            db, depth = self._tables().db, self._local.depth
            name = f"nested{depth}"
            with self._errors(""):
                if depth > 1:
                    db.execute(f"SAVEPOINT {name}")
            try:
                yield self
                with self._errors(""):
                    if depth > 1:
                        db.execute(f"RELEASE {name}")
            except BaseException:
                if db.in_transaction:  # SQLite ends some transactions itself, for example on a full disk
                    db.execute(f"ROLLBACK TO {name}" if depth > 1 else "ROLLBACK")
                raise

    @contextlib.contextmanager
    def _state(self) -> Iterator[None]:
        """All calls of this thread within the block see one state of the volume.

        Generators may enter and leave such blocks in any order. The last to leave commits.
        """
        db, local = self._tables().db, self._local
        if local.depth == 0:
            with self._errors(""):
                db.execute("BEGIN IMMEDIATE" if self.writable else "BEGIN")
        local.depth += 1
        try:
            if local.depth == 1:
                local.tables.must_be()
                local.dirs = None if self.writable else self._known(db)
            yield
        finally:
            local.depth -= 1
            if local.depth == 0 and not self._closed:
                local.dirs = None
                self._commit(db)

    def _known(self, db: sqlite3.Connection) -> dict[str, int]:
        """Return the directories that were found since the last change of the volume."""
        local = self._local
        version = db.execute("PRAGMA data_version").fetchone()[0]
        if local.version != version or len(local.known) > _MAX_DIRS:
            local.known, local.version = {}, version
        return local.known

    def _commit(self, db: sqlite3.Connection) -> None:
        try:
            with self._errors(""):
                if db.in_transaction:
                    db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _view(self) -> Iterator[Live | Past]:
        """All that is read within the block is of one state of the volume."""
        tables = self._tables()
        if tables.db.in_transaction:
            yield tables
            return
        with self._errors(""):
            tables.db.execute("BEGIN")
        try:
            tables.must_be()
            yield tables
        finally:
            tables.db.execute("COMMIT")

    # Finding.

    def _parent(self, path: str) -> tuple[int, str]:
        """Return the directory of a path without symbolic links, and the name in it."""
        top, _, name = path.rpartition("/")
        return self._top(self._tables(), top, path), name

    def _top(self, tables: Live | Past, top: str, path: str) -> int:
        """Return the number of the directory that a path leads through."""
        try:
            _, found = self._resolve(tables, top, follow=True)
        except OSError as e:
            e.filename = path
            raise
        if found is None or found[1] != DIRECTORY:
            raise _error(errno.ENOENT if found is None else errno.ENOTDIR, path)
        return found[0]

    def _resolve(self, tables: Live | Past, path: str, follow: bool = False) -> tuple[list[str], tuple[int, int] | None]:
        """Return the names of a path without symbolic links, and the inode and the type of its end, if there is one.

        The end may be a symbolic link unless follow is set.
        """
        todo = [p for p in path.split("/") if p not in ("", ".")][::-1]
        way: list[str] = []
        ends: list[tuple[int, int] | None] = [(ROOT, DIRECTORY)]
        links = 0
        while todo:
            part = todo.pop()
            if part == "..":
                if way:
                    way.pop()
                    ends.pop()
                continue
            end = ends[-1]
            found = tables.lookup(end[0], part) if end is not None else None
            if found is not None and found[1] == SYMLINK and (todo or follow):
                links += 1
                if links > _MAX_LINKS:
                    raise _error(errno.ELOOP, path)
                target = self._target(tables, found[0])
                if target.startswith("/"):
                    raise OSError(errno.EXDEV, "a symbolic link leads out of the volume", path)
                todo += [p for p in target.split("/") if p not in ("", ".")][::-1]
                continue
            if todo and found is None:
                raise _error(errno.ENOENT, path)
            if todo and found is not None and found[1] != DIRECTORY:
                raise _error(errno.ENOTDIR, path)
            way.append(part)
            ends.append(found)
        return way, ends[-1]

    def _target(self, tables: Live | Past, ino: int) -> str:
        return _tables.decode(tables.chunk(ino, 0))

    def _find(self, tables: Live | Past, path: str, follow: bool = True) -> Node:
        _, found = self._resolve(tables, path, follow)
        node = tables.node(found[0]) if found else None
        if node is None:
            raise _error(errno.ENOENT, path)
        return node

    # Reading.

    def stat(self, path: StrPath, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return what os.stat returns of a file on disk."""
        path = _text(path)
        with self._view() as tables:
            n = self._find(tables, path, follow_symlinks)
        values = (n.mode, n.ino, 0, n.nlink, n.uid, n.gid, n.size, n.atime_ns // 10**9, n.mtime_ns // 10**9, n.ctime_ns // 10**9)
        times = {"st_atime_ns": n.atime_ns, "st_mtime_ns": n.mtime_ns, "st_ctime_ns": n.ctime_ns}
        seconds = {"st_atime": n.atime_ns / 1e9, "st_mtime": n.mtime_ns / 1e9, "st_ctime": n.ctime_ns / 1e9}
        return os.stat_result(values, times | seconds)

    def exists(self, path: StrPath) -> bool:
        """Report whether there is a file, of any type."""
        path = _text(path)
        try:
            with self._view() as tables:
                self._find(tables, path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def is_dir(self, path: StrPath) -> bool:
        """Report whether there is a directory."""
        return _stat.S_ISDIR(self._mode(path))

    def is_file(self, path: StrPath) -> bool:
        """Report whether there is a regular file."""
        return _stat.S_ISREG(self._mode(path))

    def _mode(self, path: StrPath) -> int:
        try:
            return self.stat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return 0

    def readlink(self, path: StrPath) -> str:
        """Return the target of a symbolic link."""
        path = _text(path)
        with self._view() as tables:
            n = self._find(tables, path, False)
            if not _stat.S_ISLNK(n.mode):
                raise _error(errno.EINVAL, path)
            return self._target(tables, n.ino)

    def scandir(self, path: StrPath = "") -> list[Entry]:
        """Return the entries of a directory, by name."""
        path = _text(path)
        with self._view() as tables:
            n = self._find(tables, path)
            if not _stat.S_ISDIR(n.mode):
                raise _error(errno.ENOTDIR, path)
            return tables.entries(n.ino)

    def listdir(self, path: StrPath = "") -> list[str]:
        """Return the names in a directory, in order."""
        return [e.name for e in self.scandir(path)]

    def walk(self, top: StrPath = "") -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield directories as os.walk does: path, names of directories, names of other files."""
        for path, entries in self._scan(top):
            yield path, [e.name for e in entries if e.type == DIRECTORY], [e.name for e in entries if e.type != DIRECTORY]

    def _scan(self, top: StrPath) -> Iterator[tuple[str, list[Entry]]]:
        """Yield the directories below a directory, and it itself first: their paths and entries."""
        todo = [_text(top).strip("/")]
        while todo:
            path = todo.pop()
            entries = self.scandir(path)
            yield path, entries
            todo += [f"{path}/{e.name}" if path else e.name for e in reversed(entries) if e.type == DIRECTORY]

    def files(self, top: StrPath = "") -> Iterator[tuple[str, Entry]]:
        """Yield the regular files below a directory: their paths and entries, whose numbers read_many takes."""
        for path, entries in self._scan(top):
            for e in entries:
                if e.type == FILE:
                    yield f"{path}/{e.name}" if path else e.name, e

    def read_bytes(self, file: StrPath | int) -> bytes:
        """Return the content of a file.

        file:  its path, or its number: Entry.ino, or st_ino of stat. A file keeps its number when it is renamed or
               written. No number is given twice, so that a file which was removed, or replaced by a rename, is not found.
        """
        if not isinstance(file, (str, int)):
            file = index(file) if isinstance(file, SupportsIndex) else _text(file)
        tables = self._tables()
        if isinstance(tables, Live):  # most files: one statement
            try:
                data = self._whole(tables, file)
            except UnicodeEncodeError:  # a name that is not UTF-8
                data = None
            if data is not None:
                return data
        with self._view() as tables:
            n = self._regular(tables, file)
            return b"".join(_tables.content(tables, n, 0, n.size))

    def _whole(self, tables: Live, file: str | int) -> bytes | None:
        """Return the content of a file, or None if that needs more than one statement."""
        if not isinstance(file, str):
            return tables.by_ino(index(file))
        dirs = self._local.dirs
        if dirs is not None:
            top, _, name = file.rpartition("/")
            return tables.by_entry(dirs.get(top) or self._directory(tables, top, file), name)
        names = file.split("/")
        if "" in names or "." in names:
            names = [p for p in names if p not in ("", ".")]
        return tables.by_way(names) if 0 < len(names) <= _MAX_JOINS else None

    def _directory(self, tables: Live, top: str, path: str) -> int:
        """Find the directory of a path, and keep its number in mind."""
        ino = self._top(tables, top, path)
        if self._local.dirs is not None:
            self._local.dirs[top] = ino
        return ino

    def read_many(self, files: Iterable[StrPath | int]) -> Iterator[bytes]:
        """Yield the contents of files as they are at one moment, in the order of their paths or numbers.

        Many small files come in half the time that read_bytes takes for each. Up to 32 are read ahead. A writable Volume
        reads one after the other and locks out other writers until the last; so read by one that is not writable.
        """
        rest = iter(files)
        with self._state():
            while batch := list(itertools.islice(rest, _tables.BATCH)):
                found = self._batch(batch)
                if len(found) == len(batch):
                    yield from map(found.pop, range(len(batch)))
                else:
                    for i, file in enumerate(batch):
                        data = found.pop(i, None)
                        yield self.read_bytes(file) if data is None else data

    def _batch(self, files: list[Any]) -> dict[int, bytes]:
        """Return the contents that one statement finds, by their places in the list."""
        tables, types = self._tables(), set(map(type, files))
        if self._local.dirs is None or not isinstance(tables, Live):
            return {}
        if str not in types:
            try:
                return tables.batch_by_ino(list(map(index, files)))
            except TypeError:  # paths of other types
                return {}
        if len(types) > 1:
            return {}
        keys: list[int | str | None] = []
        known = self._local.dirs.get
        for path in files:
            top, _, name = path.rpartition("/")
            try:
                keys.append(known(top) or self._directory(tables, top, path))
            except (OSError, UnicodeEncodeError):
                keys.append(None)  # read_bytes raises it when its turn comes
            keys.append(name)
        try:
            return tables.batch_by_entry(keys)
        except UnicodeEncodeError:  # a name that is not UTF-8
            return {}

    def _regular(self, tables: Live | Past, path: str | int) -> Node:
        n = self._find(tables, path) if isinstance(path, str) else self._numbered(tables, index(path))
        if _stat.S_ISDIR(n.mode):
            raise _error(errno.EISDIR, path)
        if not _stat.S_ISREG(n.mode):
            raise _error(errno.EINVAL, path)
        return n

    def _numbered(self, tables: Live | Past, ino: int) -> Node:
        node = tables.node(ino)
        younger = isinstance(tables, Past) and ino >= tables.next
        if node is None or node.nlink == 0 or younger:
            raise _error(errno.ENOENT, ino)
        return node

    def read_text(self, path: StrPath, encoding: str = "utf-8") -> str:
        """Return the content of a file as a text."""
        return self.read_bytes(path).decode(encoding)

    def open(self, path: StrPath) -> io.BufferedReader:
        """Open a file for reading. It shows the file as it is at the time of each read."""
        path = _text(path)
        with self._view() as tables:
            n = self._regular(tables, path)
        return io.BufferedReader(_Reader(self, n.ino, path), CHUNK)

    def snapshots(self) -> list[str]:
        """Return the names of the snapshots, the oldest first."""
        db = self._tables().db
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'snapshot' AND type = 'table'").fetchone():
            return []
        return [row[0] for row in db.execute("SELECT name FROM snapshot WHERE name IS NOT NULL ORDER BY id")]

    # Writing: by view file, whose triggers do what Folio does.

    @contextlib.contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        """Turn the errors of SQLite into those of os."""
        try:
            yield
        except sqlite3.IntegrityError as e:
            cause, _, _ = str(e).removeprefix("file: ").partition(";")  # the rest is advice to those who write SQL
            raise OSError(_errno(str(e)), cause, path) from e
        except sqlite3.OperationalError as e:
            text = str(e)
            if "cannot modify file because it is a view" in text:
                text = "the volume has no triggers for SQL yet: folio check --repair makes them"
            code = errno.EBUSY if "locked" in text else errno.ENOSPC if "full" in text else errno.EIO
            raise OSError(code, text, path or self.path) from e

    def _change(self, path: str, statement: str, *args: Any) -> int:
        if not self.writable:
            raise _error(errno.EROFS, path)
        tables = self._tables()
        with self._errors(path):
            return tables.db.execute(statement, args).rowcount

    def _place(self, path: str, follow: bool = False) -> str:
        """Return the path without symbolic links, of a file that is to be changed."""
        if "\0" in path:
            raise OSError(errno.EINVAL, "path holds a NUL", path)
        parts, _ = self._resolve(self._tables(), path, follow)
        if not parts:
            raise _error(errno.EBUSY, path)  # the root
        return "/".join(parts)

    def write_bytes(self, path: StrPath, data: bytes | bytearray | memoryview, *, mode: int = 0o644) -> None:
        """Give a file a new content, making it with that mode if need be."""
        path = _text(path)
        data = bytes(memoryview(data))  # bytes alone would take a number for a length
        with self.transaction():
            place = self._place(path, True)
            tables = self._tables()
            try:
                n = self._find(tables, place)
            except FileNotFoundError:
                self._make(path, place, "file", mode, data)
                return
            if _stat.S_ISDIR(n.mode):
                raise _error(errno.EISDIR, path)
            if not _stat.S_ISREG(n.mode):
                raise _error(errno.EINVAL, path)
            self._change(path, "INSERT INTO file_change (ino, now_ns, content) VALUES (?, ?, ?)", n.ino, time.time_ns(), data)

    def _make(self, path: str, place: str, kind: str, mode: int, content: bytes) -> None:
        mode &= 0o7777
        try:
            self._change(path, "INSERT INTO file (path, type, mode, content) VALUES (?, ?, ?, ?)", place, kind, f"{mode:o}", content)
        except UnicodeEncodeError:  # view file takes no such path
            parent, name = self._parent(place)
            now = time.time_ns()
            self._change(path, _MAKE, parent, encode(name), _KINDS[kind] | mode, now, now, content)

    def write_text(self, path: StrPath, text: str, encoding: str = "utf-8") -> None:
        """Give a file a new content."""
        self.write_bytes(path, text.encode(encoding))

    def mkdir(self, path: StrPath, *, mode: int = 0o755, parents: bool = False, exist_ok: bool = False) -> None:
        """Make a directory; with parents, those that lead to it."""
        path = _text(path)
        names = [p for p in path.split("/") if p not in ("", ".")]
        with self.transaction():
            for i in range(1 if parents else len(names), len(names)):
                if not self.is_dir("/".join(names[:i])):
                    self._make(path, self._place("/".join(names[:i])), "dir", mode, b"")
            if not (exist_ok and self.is_dir(path)):
                self._make(path, self._place(path), "dir", mode, b"")

    def symlink(self, target: StrPath, path: StrPath) -> None:
        """Make a symbolic link."""
        target = _text(target)
        path = _text(path)
        with self.transaction():
            self._make(path, self._place(path), "symlink", 0o777, encode(target))

    def remove(self, path: StrPath) -> None:
        """Remove a file or an empty directory."""
        path = _text(path)
        with self.transaction():
            place = self._place(path)
            n = self._find(self._tables(), place, False)
            if _stat.S_ISDIR(n.mode) and self._tables().entries(n.ino):
                raise _error(errno.ENOTEMPTY, path)
            self._drop(path, place)

    def remove_tree(self, path: StrPath) -> None:
        """Remove a file, or a directory with all that is in it."""
        path = _text(path)
        with self.transaction():
            self._drop(path, self._place(path))

    def _drop(self, path: str, place: str) -> None:
        """Remove an entry and what is below it, without a search of the whole volume."""
        tables = self._tables()
        parent, name = self._parent(place)
        found = tables.lookup(parent, name)
        if found is None:
            raise _error(errno.ENOENT, path)
        below = [(parent, name, *found)]
        for _, _, ino, kind in below:
            if kind == DIRECTORY:
                below += [(ino, e.name, e.ino, e.type) for e in tables.entries(ino)]
        now = time.time_ns()
        drop = "INSERT INTO file_drop (parent, name, ino, type, now_ns) VALUES (?, CAST(? AS TEXT), ?, ?, ?)"
        for directory, name, ino, kind in below:
            self._change(path, drop, directory, encode(name), ino, kind, now)

    def rename(self, old: StrPath, new: StrPath) -> None:
        """Move a file or a directory. A file of the new path is replaced, as os.replace does it."""
        old, new = _text(old), _text(new)
        with self.transaction():
            from_, to = self._place(old), self._place(new)
            n = self._find(self._tables(), from_, False)
            if from_ == to:
                return
            if _stat.S_ISDIR(n.mode) and to.startswith(from_ + "/"):
                raise _error(errno.EINVAL, new)
            try:
                there = self._find(self._tables(), to, False)
            except FileNotFoundError:
                there = None
            if there is not None:
                if there.ino == n.ino:
                    return
                if _stat.S_ISDIR(there.mode) != _stat.S_ISDIR(n.mode):
                    raise _error(errno.EISDIR if _stat.S_ISDIR(there.mode) else errno.ENOTDIR, new)
                self.remove(to)
            (a, was), (b, name) = self._parent(from_), self._parent(to)
            move = "INSERT INTO file_move (parent, name, to_parent, to_name, now_ns) VALUES (?, CAST(? AS TEXT), ?, CAST(? AS TEXT), ?)"
            self._change(new, move, a, encode(was), b, encode(name), time.time_ns())

    def chmod(self, path: StrPath, mode: int) -> None:
        """Set the permissions of a file."""
        self._set(path, "mode", mode & 0o7777)

    def utime(self, path: StrPath, mtime_ns: int) -> None:
        """Set the time of the last change of a file, in nanoseconds since 1970."""
        self._set(path, "mtime_ns", mtime_ns)

    def _set(self, path: StrPath, column: str, value: int) -> None:
        path = _text(path)
        with self.transaction():
            ino = self._find(self._tables(), path).ino
            self._change(path, f"INSERT INTO file_change (ino, now_ns, {column}) VALUES (?, ?, ?)", ino, time.time_ns(), value)


class _Reader(io.RawIOBase):
    """A file that is open for reading."""

    def __init__(self, volume: Volume, ino: int, path: str) -> None:
        self._volume, self._ino, self.name, self._pos = volume, ino, path, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def _node(self, tables: Live | Past) -> Node:
        node = tables.node(self._ino)
        if node is None:
            raise OSError(errno.ESTALE, "the file was removed", self.name)
        return node

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = self._pos if whence == os.SEEK_CUR else 0
        if whence == os.SEEK_END:
            with self._volume._view() as tables:
                start = self._node(tables).size
        if start + offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), self.name)
        self._pos = start + offset
        return self._pos

    def tell(self) -> int:
        return self._pos

    def readinto(self, buffer: Any) -> int:
        done = 0
        with self._volume._view() as tables:
            node = self._node(tables)
            for part in _tables.content(tables, node, self._pos, min(self._pos + len(buffer), node.size)):
                buffer[done : done + len(part)] = part
                done += len(part)
        self._pos += done
        return done

    def readall(self) -> bytes:
        with self._volume._view() as tables:
            node = self._node(tables)
            data = b"".join(_tables.content(tables, node, self._pos, node.size))
        self._pos += len(data)
        return data


def _text(path: StrPath) -> str:
    """Return a path with slashes, on every system."""
    return path if isinstance(path, str) else path.as_posix() if isinstance(path, PurePath) else os.fspath(path)


def _error(code: int, path: str | int) -> OSError:
    return OSError(code, os.strerror(code), path)


def _errno(text: str) -> int:
    """Return the number of an error that a trigger has raised."""
    for part, code in (
        ("there is a file of", errno.EEXIST),
        ("does not exist", errno.ENOENT),
        ("no such file", errno.ENOENT),
        ("is no directory", errno.ENOTDIR),
        ("longer than", errno.ENAMETOOLONG),
    ):
        if part in text:
            return code
    return errno.EINVAL


def create(path: str | os.PathLike[str]) -> None:
    """Make an empty volume, complete or not at all. It is an error if there is a file of that path."""
    path = os.fspath(path)
    if os.path.lexists(path):
        raise _error(errno.EEXIST, path)
    with tempfile.TemporaryDirectory(prefix=".folio-", dir=os.path.dirname(os.path.abspath(path))) as directory:
        made = os.path.join(directory, "volume")
        with contextlib.closing(sqlite3.connect(made, isolation_level=None)) as db:
            db.execute("PRAGMA page_size = 4096")
            db.executescript("BEGIN;" + resources.files("folio_fs").joinpath("schema.sql").read_text("utf-8"))
            now = time.time_ns()
            db.execute("INSERT INTO node VALUES (1, ?, 2, ?, ?, 0, 0, ?, ?, ?, 0)", (_stat.S_IFDIR | 0o755, *_owner(), now, now, now))
            db.execute("COMMIT")
            db.execute("PRAGMA journal_mode = WAL")
        try:
            os.link(made, path)  # fails if there is a file by now
        except FileExistsError:
            raise _error(errno.EEXIST, path) from None
        except OSError:  # a file system without hard links
            os.rename(made, path)


def _owner() -> tuple[int, int]:
    return (os.getuid(), os.getgid()) if hasattr(os, "getuid") else (0, 0)
