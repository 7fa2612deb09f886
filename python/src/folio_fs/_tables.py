"""Reading the tables of a volume. docs/reference/format.md of Folio specifies them."""

from __future__ import annotations

import errno
import functools
import sqlite3
from collections.abc import Iterator
from stat import S_IFREG
from typing import NamedTuple

APPLICATION_ID = 0x466F6C69
CHUNK = 1 << 16
ROOT = 1
BATCH = 32  # files that one statement reads

FILE, DIRECTORY, SYMLINK = 1, 2, 3


def encode(name: str) -> bytes:
    """Return the bytes of a name. Those that are not UTF-8 are lone surrogates in a str, as os has them."""
    return name.encode("utf-8", "surrogateescape")


def decode(name: bytes) -> str:
    """Return the name that encode returns the bytes of."""
    return str(name, "utf-8", "surrogateescape")


class Node(NamedTuple):
    """A file apart from its names."""

    ino: int
    mode: int
    nlink: int
    uid: int
    gid: int
    size: int
    holes: int
    mtime_ns: int
    ctime_ns: int
    atime_ns: int


class Entry(NamedTuple):
    """A name in a directory."""

    name: str
    ino: int
    type: int


_NODE = "ino, mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns"


def _named(db: sqlite3.Connection, query: str, parent: int, name: str, *rest: int) -> tuple[int, int] | None:
    """Return the row of a query for parent = ? AND name = ?."""
    try:
        found = db.execute(query, (parent, name, *rest))
    except UnicodeEncodeError:  # only bytes go to SQLite as they are
        found = db.execute(query.replace("name = ?", "name = CAST(? AS TEXT)"), (parent, encode(name), *rest))
    row: tuple[int, int] | None = found.fetchone()
    return row


class Live:
    """The volume as it is."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._cursor = db.cursor()  # of small and small_in

    def must_be(self) -> None:
        """The volume itself is always there."""

    def lookup(self, parent: int, name: str) -> tuple[int, int] | None:
        """Return the inode and the type of an entry."""
        return _named(self.db, "SELECT ino, type FROM entry WHERE parent = ? AND name = ?", parent, name)

    def node(self, ino: int) -> Node | None:
        """Return an inode."""
        row = self.db.execute(f"SELECT {_NODE} FROM node WHERE ino = ?", (ino,)).fetchone()
        return row and Node(*row)

    def entries(self, parent: int) -> list[Entry]:
        """Return the entries of a directory, by name."""
        rows = self.db.execute("SELECT name, ino, type FROM entry WHERE parent = ? ORDER BY name", (parent,))
        return [Entry(*row) for row in rows]

    def chunk(self, ino: int, i: int) -> bytes:
        """Return chunk i of a file, b"" if there is none."""
        row = self.db.execute("SELECT bytes FROM data WHERE id = ?", (ino << 28 | i,)).fetchone()
        return row[0] if row else self._shared(ino, i)

    def _shared(self, ino: int, i: int) -> bytes:
        """Return the chunk that a clone shares with its base, b"" if it shares none."""
        try:
            row = self.db.execute(
                "SELECT d.bytes FROM origin AS o JOIN data AS d ON d.id = (o.base << 28) + ?2 WHERE o.ino = ?1 AND o.chunks > ?2",
                (ino, i),
            ).fetchone()
        except sqlite3.OperationalError:  # there are no clones
            return b""
        return row[0] if row else b""

    def by_way(self, names: list[str]) -> bytes | None:
        """Return the content of the file at the end of a way from the root, or None if one statement does not find it."""
        return _whole(self._cursor.execute(_by_way(len(names)), names).fetchone())

    def by_entry(self, parent: int, name: str) -> bytes | None:
        """Return the same of a file in a directory."""
        return _whole(self._cursor.execute(_BY_ENTRY, (parent, name)).fetchone())

    def by_ino(self, ino: int) -> bytes | None:
        """Return the same of a file with a number."""
        return _whole(self._cursor.execute(_BY_INO, (ino,)).fetchone())

    def batch_by_entry(self, keys: list[int | str | None]) -> dict[int, bytes]:
        """Return the same of up to BATCH files, by their places. The list has directory, name, directory, name and so on.

        Empty files are not found.
        """
        return dict(self._cursor.execute(_BATCH_BY_ENTRY, keys + [None] * (2 * BATCH - len(keys))))

    def batch_by_ino(self, inos: list[int]) -> dict[int, bytes]:
        """Return the same of up to BATCH files with these numbers."""
        return dict(self._cursor.execute(_BATCH_BY_INO, inos + [None] * (BATCH - len(inos))))


# These statements find a regular file whose content is whole in its first chunk, as nearly all small files have it: not
# files with holes or clones, nor damage. They look at the length before they read the content. CROSS JOIN keeps the order.
_WHOLE = f"n.size <= {CHUNK} AND n.size = ifnull(length(d.bytes), 0)"
_DATA = "node AS n LEFT JOIN data AS d ON d.id = n.ino << 28"
_IS_FILE = f"n.mode & {0o170000} = {S_IFREG} AND n.nlink > 0"
_BY_INO = f"SELECT d.bytes FROM {_DATA} WHERE n.ino = ? AND {_IS_FILE} AND {_WHOLE}"
_BY_ENTRY = (
    f"SELECT d.bytes FROM entry AS e CROSS JOIN {_DATA}"
    f" WHERE e.parent = ? AND e.name = ? AND e.type = {FILE} AND n.ino = e.ino AND {_WHOLE}"
)
_BATCH_WHOLE = f"d.id = n.ino << 28 AND n.size <= {CHUNK} AND n.size = length(d.bytes)"  # a LEFT JOIN would cost
_BATCH_BY_INO = (
    f"WITH w (i, ino) AS (VALUES {', '.join(f'({i}, ?)' for i in range(BATCH))})"
    " SELECT w.i, d.bytes FROM w CROSS JOIN node AS n CROSS JOIN data AS d"
    f" WHERE n.ino = w.ino AND {_IS_FILE} AND {_BATCH_WHOLE}"
)
_BATCH_BY_ENTRY = (
    f"WITH w (i, parent, name) AS (VALUES {', '.join(f'({i}, ?, ?)' for i in range(BATCH))})"
    " SELECT w.i, d.bytes FROM w CROSS JOIN entry AS e CROSS JOIN node AS n CROSS JOIN data AS d"
    f" WHERE e.parent = w.parent AND e.name = w.name AND e.type = {FILE} AND n.ino = e.ino AND {_BATCH_WHOLE}"
)


@functools.cache
def _by_way(depth: int) -> str:
    entries = " CROSS JOIN ".join(f"entry AS e{i}" for i in range(depth))
    steps = " AND ".join(f"e{i}.parent = {f'e{i - 1}.ino' if i else ROOT} AND e{i}.name = ?" for i in range(depth))
    last = f"e{depth - 1}"
    return (
        f"SELECT d.bytes FROM {entries} CROSS JOIN {_DATA}"
        f" WHERE {steps} AND {last}.type = {FILE} AND n.ino = {last}.ino AND {_WHOLE}"
    )


def _whole(row: tuple[bytes | None] | None) -> bytes | None:
    return None if row is None else row[0] or b""


class Past:
    """The volume as a snapshot sees it."""

    def __init__(self, db: sqlite3.Connection, snapshot: str) -> None:
        self.db = db
        row = None
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'snapshot' AND type = 'table'").fetchone():
            row = db.execute("SELECT id, next FROM snapshot WHERE name = ?", (snapshot,)).fetchone()
        if row is None:
            raise FileNotFoundError(errno.ENOENT, "the volume has no such snapshot", snapshot)
        self.at, self.next = row
        self.name = snapshot
        self.live = Live(db)

    def must_be(self) -> None:
        """Raise an error if the snapshot was removed. What it has kept is gone then."""
        try:
            row = self.db.execute("SELECT 1 FROM snapshot WHERE id = ? AND name = ?", (self.at, self.name)).fetchone()
        except sqlite3.OperationalError:  # it was the last one
            row = None
        if row is None:
            raise FileNotFoundError(errno.ENOENT, "the snapshot was removed", self.name)

    def lookup(self, parent: int, name: str) -> tuple[int, int] | None:
        """Return the inode and the type of an entry."""
        query = "SELECT ino, type FROM entry_was WHERE parent = ? AND name = ? AND until >= ? ORDER BY until LIMIT 1"
        row = _named(self.db, query, parent, name, self.at)
        if row is None:
            row = self.live.lookup(parent, name)
        return row if row is not None and 0 < row[0] < self.next else None

    def node(self, ino: int) -> Node | None:
        """Return an inode."""
        row = self.db.execute(
            f"SELECT {_NODE} FROM node_was WHERE ino = ? AND until >= ? ORDER BY until LIMIT 1", (ino, self.at)
        ).fetchone()
        return Node(*row) if row else self.live.node(ino)

    def entries(self, parent: int) -> list[Entry]:
        """Return the entries of a directory, by name."""
        now = {e.name: e for e in self.live.entries(parent)}
        rows = self.db.execute(
            "SELECT name, ino, type FROM entry_was WHERE parent = ? AND until >= ? ORDER BY name, until DESC",
            (parent, self.at),
        )
        for row in rows:  # the last of a name is the one with the smallest until
            now[row[0]] = Entry(*row)
        return [now[name] for name in sorted(now, key=encode) if 0 < now[name].ino < self.next]

    def chunk(self, ino: int, i: int) -> bytes:
        """Return chunk i of a file, b"" if there is none."""
        row = self.db.execute(
            "SELECT block FROM data_was WHERE id = ? AND until >= ? ORDER BY until LIMIT 1", (ino << 28 | i, self.at)
        ).fetchone()
        if row is None:
            return self.live.chunk(ino, i)
        if isinstance(row[0], bytes):
            return row[0]
        row = self.db.execute("SELECT bytes FROM block WHERE id = ?", row).fetchone()
        return row[0] if row else b""


def content(tables: Live | Past, node: Node, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a file from start to end, which lie within its size, in parts."""
    while start < end:
        i, skip = divmod(start, CHUNK)
        part = min(end - start, CHUNK - skip)
        data = tables.chunk(node.ino, i)[skip : skip + part]
        if len(data) < part:
            if node.holes == 0:
                raise OSError(errno.EIO, f"the volume is damaged: inode {node.ino} lacks content from byte {start + len(data)} on")
            data += bytes(part - len(data))
        yield data
        start += part
