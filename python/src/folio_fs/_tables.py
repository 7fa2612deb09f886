"""Reading the tables of a volume. docs/format.md of Folio specifies them."""

from __future__ import annotations

import errno
import functools
import os
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

APPLICATION_ID = 0x466F6C69
CHUNK = 1 << 16
ROOT = 1

FILE, DIRECTORY, SYMLINK = 1, 2, 3


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


class Live:
    """The volume as it is."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._cursor = db.cursor()  # of small and small_in

    def must_be(self) -> None:
        """The volume itself is always there."""

    def lookup(self, parent: int, name: str) -> tuple[int, int] | None:
        """Return the inode and the type of an entry."""
        row: tuple[int, int] | None = self.db.execute(
            "SELECT ino, type FROM entry WHERE parent = ? AND name = ?", (parent, name)
        ).fetchone()
        return row

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

    def small(self, names: list[str]) -> tuple[int, int, int, bytes | None] | None:
        """Return type, size, holes and the first chunk of the file at the end of a way, by one statement."""
        row: tuple[int, int, int, bytes | None] | None = self._cursor.execute(_small(len(names)), names).fetchone()
        return row

    def small_in(self, parent: int, name: str) -> tuple[int, int, int, bytes | None] | None:
        """Return the same of a file in a directory."""
        row: tuple[int, int, int, bytes | None] | None = self._cursor.execute(_SMALL_IN, (parent, name)).fetchone()
        return row


_SMALL_IN = (
    "SELECT e.type, n.size, n.holes, (SELECT bytes FROM data WHERE id = n.ino << 28)"
    " FROM entry AS e JOIN node AS n ON n.ino = e.ino WHERE e.parent = ?1 AND e.name = ?2"
)


@functools.cache
def _small(depth: int) -> str:
    ways = [f"JOIN entry AS e{i} ON e{i}.parent = e{i - 1}.ino AND e{i}.name = ?{i + 1}" for i in range(1, depth)]
    return (
        f"SELECT e{depth - 1}.type, n.size, n.holes, (SELECT bytes FROM data WHERE id = n.ino << 28)"
        f" FROM entry AS e0 {' '.join(ways)} JOIN node AS n ON n.ino = e{depth - 1}.ino WHERE e0.parent = 1 AND e0.name = ?1"
    )


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
        row = self.db.execute(
            "SELECT ino, type FROM entry_was WHERE parent = ? AND name = ? AND until >= ? ORDER BY until LIMIT 1",
            (parent, name, self.at),
        ).fetchone()
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
        return [now[name] for name in sorted(now, key=os.fsencode) if 0 < now[name].ino < self.next]

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
