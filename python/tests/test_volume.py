import multiprocessing
import os
import pickle
import random
import sqlite3
import stat
import threading

import pytest

import folio_fs
from folio_fs import Volume, VolumePath


def test_write_and_read(volume):
    volume.mkdir("img")
    data = os.urandom(300_000)
    volume.write_bytes("img/logo.png", data)
    assert volume.read_bytes("img/logo.png") == data
    assert volume.read_bytes("/img/../img/./logo.png") == data
    volume.write_bytes("img/logo.png", b"new")
    assert volume.read_bytes("img/logo.png") == b"new"
    assert volume.listdir() == ["img"]
    assert volume.listdir("img") == ["logo.png"]
    s = volume.stat("img/logo.png")
    assert (s.st_size, s.st_nlink, stat.S_IMODE(s.st_mode)) == (3, 1, 0o644)
    volume.chmod("img/logo.png", 0o600)
    volume.utime("img/logo.png", 123456789_000000001)
    s = volume.stat("img/logo.png")
    assert (stat.S_IMODE(s.st_mode), s.st_mtime_ns) == (0o600, 123456789_000000001)


def test_open_reads_at_random(volume):
    data = os.urandom(500_000)
    volume.write_bytes("f", data)
    r = random.Random(1)
    with volume.open("f") as f:
        for _ in range(300):
            at, n = r.randrange(len(data) + 10), r.randrange(100_000)
            assert f.seek(at) == at
            assert f.read(n) == data[at : at + n]
        assert f.seek(-5, os.SEEK_END) == len(data) - 5
        assert f.read() == data[-5:]


def test_tree(volume):
    volume.mkdir("a/b/c", parents=True)
    volume.write_text("a/b/x", "é")
    volume.symlink("b/x", "a/link")
    assert volume.read_text("a/link") == "é"
    assert volume.readlink("a/link") == "b/x"
    assert list(volume.walk()) == [("", ["a"], []), ("a", ["b"], ["link"]), ("a/b", ["c"], ["x"]), ("a/b/c", [], [])]
    volume.rename("a/b", "a/d")
    assert not volume.exists("a/link") and volume.exists("a/d/x")
    volume.write_text("y", "old")
    volume.rename("a/d/x", "y")
    assert volume.read_text("y") == "é"
    volume.remove_tree("a")
    assert volume.listdir() == ["y"]
    assert volume.stat("").st_nlink == 2


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda v: v.read_bytes("no"), FileNotFoundError),
        (lambda v: v.read_bytes("no/such"), FileNotFoundError),
        (lambda v: v.read_bytes("f/x"), NotADirectoryError),
        (lambda v: v.open("d"), IsADirectoryError),
        (lambda v: v.write_bytes("d", b""), IsADirectoryError),
        (lambda v: v.write_bytes("no/f", b""), FileNotFoundError),
        (lambda v: v.write_bytes("f/x", b""), NotADirectoryError),
        (lambda v: v.write_bytes("n" * 766, b""), OSError),
        (lambda v: v.mkdir("d"), FileExistsError),
        (lambda v: v.mkdir("f", parents=True, exist_ok=True), FileExistsError),
        (lambda v: v.mkdir("no/d"), FileNotFoundError),
        (lambda v: v.remove("d"), OSError),
        (lambda v: v.remove("no"), FileNotFoundError),
        (lambda v: v.remove_tree(""), OSError),
        (lambda v: v.rename("d", "d/e"), OSError),
        (lambda v: v.rename("no", "x"), FileNotFoundError),
        (lambda v: v.rename("f", "d"), IsADirectoryError),
        (lambda v: v.symlink("x", "f"), FileExistsError),
        (lambda v: v.read_bytes("loop"), OSError),
        (lambda v: v.read_bytes("out"), OSError),
        (lambda v: v.readlink("f"), OSError),
        (lambda v: v.listdir("f"), NotADirectoryError),
    ],
)
def test_errors(volume, call, error):
    volume.mkdir("d")
    volume.write_bytes("d/in", b"")
    volume.write_bytes("f", b"")
    volume.symlink("loop", "loop")
    volume.symlink("/etc/passwd", "out")
    before = list(volume.walk())
    with pytest.raises(error) as e:
        call(volume)
    assert e.value.filename is not None
    assert list(volume.walk()) == before


def test_transaction(volume):
    with pytest.raises(RuntimeError), volume.transaction():
        volume.write_bytes("a", b"1")
        raise RuntimeError
    assert volume.listdir() == []
    with volume.transaction():
        volume.write_bytes("a", b"1")
        volume.write_bytes("b", b"2")
    assert volume.listdir() == ["a", "b"]


def test_nested(volume):
    """A call that fails within a transaction is undone alone."""
    with volume.transaction():
        volume.write_bytes("a", b"1")
        with pytest.raises(FileNotFoundError), volume.transaction():
            volume.write_bytes("b", b"2")
            volume.remove("no")
        volume.write_bytes("c", b"3")
    assert volume.listdir() == ["a", "c"]


def test_full(path):
    """A volume that cannot grow refuses a change, and goes on."""
    with Volume(path, writable=True) as v:
        v.write_bytes("a", b"1")
        v._tables().db.execute("PRAGMA max_page_count = 60")
        with pytest.raises(OSError) as e, v.transaction():
            v.write_bytes("b", bytes(10))
            v.write_bytes("c", os.urandom(1_000_000))
        assert e.value.errno == 28
        assert v.listdir() == ["a"]
        v.write_bytes("d", b"4")
        assert v.listdir() == ["a", "d"]


def test_read_only(path):
    with Volume(path) as v, pytest.raises(OSError, match="Read-only"):
        v.write_bytes("a", b"")


@pytest.mark.parametrize("content", [None, b"", b"no database", b"SQLite format 3\0" + bytes(200)])
def test_not_a_volume(tmp_path, content):
    name = tmp_path / "x"
    if content is not None:
        name.write_bytes(content)
    with pytest.raises(OSError):
        Volume(name)


def test_newer_version(path):
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 9")
    with pytest.raises(OSError, match="version 9"):
        Volume(path)


def test_older_volume(path):
    with sqlite3.connect(path) as db:
        for kind, name in db.execute("SELECT type, name FROM sqlite_master WHERE name GLOB 'file_*' ORDER BY type DESC").fetchall():
            if kind == "view":
                db.execute(f"DROP VIEW {name}")
        for name in ("insert", "update", "delete"):
            db.execute(f"DROP TRIGGER file_{name}")
    with Volume(path, writable=True) as v, pytest.raises(OSError, match="check --repair"):
        v.write_bytes("a", b"")


def test_create_refuses(path):
    with pytest.raises(FileExistsError):
        folio_fs.create(path)


def test_pickle_and_path(volume):
    volume.mkdir("a")
    p = VolumePath(volume) / "a" / "x.txt"
    p.write_text("hi")
    again = pickle.loads(pickle.dumps(volume))
    assert again.read_text("a/x.txt") == "hi"
    assert p.parent.name == "a" and p.suffix == ".txt" and p.is_file() and p.exists()
    assert [str(q) for q in VolumePath(volume).rglob("*.txt")] == ["a/x.txt"]
    assert str(p.rename("a/y.txt")) == "a/y.txt" and not p.exists()
    assert [q.name for q in p.parent.iterdir()] == ["y.txt"]


SIZE = 200_000  # several rows


def _reader(path, found, times):
    with Volume(path) as v:
        for _ in range(times):
            for text in (v.read_bytes("f"), v.open("f").read()):
                if len(set(text)) > 1 or len(text) != SIZE:
                    found.put("torn")
                    return
    found.put("ok")


def test_processes_and_threads(path):
    """Readers in other processes see each content whole, while it is written."""
    with Volume(path, writable=True) as v:
        v.write_bytes("f", b"a" * SIZE)
        context = multiprocessing.get_context("fork")
        found = context.Queue()
        workers = [context.Process(target=_reader, args=(path, found, 300)) for _ in range(4)]
        for w in workers:
            w.start()
        i = 0
        while any(w.is_alive() for w in workers) and i < 2000:
            v.write_bytes("f", bytes([97 + i % 26]) * SIZE)
            i += 1
        assert [found.get(timeout=60) for _ in workers] == ["ok"] * 4
        for w in workers:
            w.join()
        errors = []

        def thread():
            try:
                assert len(v.read_bytes("f")) == SIZE
            except BaseException as e:
                errors.append(e)

        threads = [threading.Thread(target=thread) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert errors == []


def test_read_many(volume, path):
    volume.mkdir("d/e", parents=True)
    contents = {"a": b"1", "d/b": b"", "d/e/c": b"3" * 70_000, "d/e/f": b"4" * 65_536}
    for name, data in contents.items():
        volume.write_bytes(name, data)
    volume.symlink("d/e", "link")
    volume.symlink("d/e/c", "to-c")
    names = [*contents, "link/c", "./d//e/../b", "to-c", "/a"]
    with folio_fs.Volume(path) as v:
        for reader in v, volume:
            assert list(reader.read_many(names)) == [volume.read_bytes(name) for name in names]
        for name, error in ("x", FileNotFoundError), ("x/y", FileNotFoundError), ("a/b", NotADirectoryError), ("d/", IsADirectoryError), ("d/e", IsADirectoryError):
            for read in v.read_bytes, lambda name: list(v.read_many(["a", name])):
                with pytest.raises(error) as e:
                    read(name)
                assert e.value.filename == name
        several = v.read_many(["a", "d/b"])
        assert next(several) == b"1"
        volume.write_bytes("d/b", b"new")
        assert next(several) == b""  # one moment
        several.close()
        assert v.read_bytes("d/b") == b"new"
        assert list(v.read_many(["d/b"])) == [b"new"]
        volume.rename("d", "moved")
        volume.write_bytes("a", b"5")
        assert list(v.read_many(["a", "moved/b"])) == [b"5", b"new"]
