"""A volume goes to a database of LiteFS (the Go package go.husin.dev/litefs of 2022) and back.

That package needs cgo and is at no module proxy. So its part is played here by the statements that it makes, in
SQLite, with foreign keys on.
"""

import itertools
import os
import sqlite3
from datetime import datetime, timezone
from pathlib import Path

from folio_fs import Volume


class LiteFS:
    """The calls of litefs.FS that read, write and remove."""

    def __init__(self, database: Path) -> None:
        self.db = sqlite3.connect(database, isolation_level=None)
        self.db.execute("PRAGMA foreign_keys = ON")
        self.ids = (f"c9ftpq5lhb6s73b0{i:04d}" for i in itertools.count())

    def find(self, path: str):
        """The row of a path; LiteFS goes from name to name."""
        row = None
        for name in path.split("/"):
            if row is None:
                cursor = self.db.execute("SELECT * FROM litefs_entry WHERE parent_id IS NULL AND name = $1", [name])
            else:
                cursor = self.db.execute("SELECT * FROM litefs_entry WHERE parent_id = $1 AND name = $2", [row[0], name])
            if (row := cursor.fetchone()) is None:
                raise FileNotFoundError(path)
        return row

    def readdir(self, path: str) -> list[str]:
        if path == ".":
            rows = self.db.execute("SELECT * FROM litefs_entry WHERE parent_id IS NULL")
        else:
            rows = self.db.execute("SELECT * FROM litefs_entry WHERE parent_id = $1", [self.find(path)[0]])
        return sorted(row[2] for row in rows)

    def create(self, parent, name: str, content) -> str:
        at = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        row = [next(self.ids), parent, name, at, content]
        self.db.execute(
            "INSERT INTO litefs_entry (id, parent_id, name, modtime, content) VALUES ($1, $2, $3, $4, $5)", row
        )
        return row[0]

    def write(self, path: str, content: bytes) -> None:
        """Make a file, and the directories above it."""
        *dirs, name = path.split("/")
        parent, at = None, ""
        for directory in dirs:
            at = f"{at}/{directory}".lstrip("/")
            try:
                parent = self.find(at)[0]
            except FileNotFoundError:
                parent = self.create(parent, directory, None)
        self.create(parent or "", name, content)

    def remove(self, path: str) -> None:
        self.db.execute("DELETE FROM litefs_entry WHERE id = $1", [self.find(path)[0]])

    def close(self) -> None:
        assert self.db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert self.db.execute("PRAGMA foreign_key_check").fetchall() == []
        self.db.close()


def test_litefs(path, folio, tmp_path):
    large = os.urandom(3_000_000)
    with Volume(path, writable=True) as v:
        v.mkdir("dir/of", parents=True)
        v.write_text("dir/a.txt", "hello")
        v.write_bytes("large", large)
        v.write_bytes("empty", b"")
        v.write_text("dir/of/old", "old")
    database = tmp_path / "a.litefs"
    folio("export", path, str(database))
    fs = LiteFS(database)
    assert fs.readdir(".") == ["dir", "empty", "large"]
    assert fs.readdir("dir") == ["a.txt", "of"]
    assert fs.find("dir")[4] is None
    assert fs.find("empty")[4] == b""
    assert fs.find("large")[4] == large
    assert datetime.fromisoformat(fs.find("dir/a.txt")[3][:19]) <= datetime.now(timezone.utc).replace(tzinfo=None)
    fs.write("dir/of/new/b.bin", large[::-1])
    fs.write("empty dirs/of/c", b"")
    fs.remove("dir/of/old")
    fs.remove("empty")
    fs.remove("empty dirs/of/c")
    fs.close()
    back = str(tmp_path / "back.folio")
    folio("import", str(database), back)
    with Volume(back) as v:
        assert sorted(v.listdir("")) == ["dir", "empty dirs", "large"]
        assert v.listdir("empty dirs/of") == []
        assert v.listdir("dir/of") == ["new"]
        assert v.read_bytes("dir/of/new/b.bin") == large[::-1]
        assert v.read_bytes("large") == large
        assert v.read_text("dir/a.txt") == "hello"
    folio("check", back)


def test_root_without_foreign_keys(folio, tmp_path):
    """LiteFS names no parent for a file in the root, but an empty id, which foreign keys refuse."""
    database = tmp_path / "a.db"
    db = sqlite3.connect(database)
    db.executescript("""
        CREATE TABLE schema_migrations (version varchar(255) primary key);
        CREATE TABLE litefs_entry (id TEXT NOT NULL, parent_id TEXT, name TEXT NOT NULL, modtime TEXT NOT NULL, content BLOB,
          PRIMARY KEY (id), FOREIGN KEY (parent_id) REFERENCES litefs_entry (id) ON DELETE CASCADE, UNIQUE (parent_id, name));
        INSERT INTO schema_migrations VALUES ('20220502213415');
    """)
    db.close()
    fs = LiteFS(database)
    fs.db.execute("PRAGMA foreign_keys = OFF")
    fs.write("root", b"in the root")
    fs.write("dir/a", b"a")
    fs.db.close()
    volume = str(tmp_path / "v.folio")
    folio("convert", str(database), volume)
    with Volume(volume) as v:
        assert v.read_bytes("root") == b"in the root"
        assert v.read_bytes("dir/a") == b"a"
