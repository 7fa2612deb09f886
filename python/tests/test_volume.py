import array
import multiprocessing
import os
import pickle
import random
import re
import sqlite3
import stat
import sys
import threading
from importlib import resources
from pathlib import Path, PurePosixPath, PureWindowsPath

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


@pytest.mark.parametrize("content", [5, [1, 2], "text", None])
def test_write_no_bytes(volume, content):
    with pytest.raises(TypeError):
        volume.write_bytes("f", content)
    assert volume.listdir() == []


@pytest.mark.parametrize(
    "content",
    [bytearray(b"\1\0\2\0"), memoryview(b"\1\0\2\0"), array.array("H", [1, 2]), memoryview(b"\1x\0x\2x\0x")[::2]],
    ids=["bytearray", "memoryview", "items of two bytes", "strided"],
)
def test_write_buffer(volume, content):
    VolumePath(volume, "f").write_bytes(content)
    VolumePath(volume, "f").write_bytes(content)  # by another statement
    want = b"\1\0\2\0" if sys.byteorder == "little" else bytes(content)
    assert volume.read_bytes("f") == want


def test_no_error_of_a_trigger_tells_sql(volume):
    schema = resources.files("folio_fs").joinpath("schema.sql").read_text("utf-8")
    texts = set(re.findall(r"RAISE\(ABORT, '((?:[^']|'')*)'\)", schema))
    assert len(texts) > 15
    for text in texts:
        with pytest.raises(OSError) as e, volume._errors("f"):
            raise sqlite3.IntegrityError(text.replace("''", "'"))
        assert e.value.strerror and e.value.filename == "f"
        assert not re.search(r"\b(INSERT|UPDATE|DELETE|insert)\b|^file:", e.value.strerror), text


def test_errors_without_advice_for_sql(volume):
    volume.write_bytes("f", b"")
    with pytest.raises(FileExistsError) as e:
        volume.mkdir("f")
    assert e.value.strerror == "there is a file of this path"


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


def test_read_by_number(volume, path):
    """A number is that of a file, whatever its name; it is gone with the file."""
    volume.mkdir("d")
    contents = {"a": b"1", "d/b": b"", "d/c": b"3" * 70_000, "d/e": b"4" * 65_536, "f": b"5" * 10_240}
    for name, data in contents.items():
        volume.write_bytes(name, data)
    volume.symlink("a", "link")
    with Volume(path) as v:
        numbers = {name: entry.ino for name, entry in v.files()}
        assert list(numbers) == ["a", "f", "d/b", "d/c", "d/e"]
        assert dict(v.files("d/")) == {name: e for name, e in v.files() if name.startswith("d/")}
        for reader in v, volume:
            assert [reader.read_bytes(numbers[name]) for name in contents] == list(contents.values())
            assert list(reader.read_many(numbers[name] for name in contents)) == list(contents.values())
            assert list(reader.read_many(["a", numbers["f"], "link", numbers["a"]])) == [b"1", contents["f"], b"1", b"1"]
        before, numbered = list(v.read_many(contents)), v.read_many(numbers.values())
        assert next(numbered) == b"1"
        volume.rename("a", "d/moved")
        volume.write_bytes("d/e", b"written")
        volume.write_bytes("new", b"6")
        volume.rename("new", "f")  # replaces it
        volume.remove("d/c")
        assert [b"1", *numbered] == [contents[name] for name in numbers] and before == list(contents.values())
        assert v.read_bytes(numbers["a"]) == b"1"
        assert list(v.read_many([numbers["d/e"], numbers["a"], v.stat("f").st_ino])) == [b"written", b"1", b"6"]
        for reader in v, volume:
            for ino, error in [
                (numbers["f"], FileNotFoundError),
                (numbers["d/c"], FileNotFoundError),
                (0, FileNotFoundError),
                (-1, FileNotFoundError),
                (1 << 60, FileNotFoundError),
                (1, IsADirectoryError),
                (v.stat("link", follow_symlinks=False).st_ino, OSError),
            ]:
                for read in reader.read_bytes, lambda ino: list(reader.read_many([numbers["a"], ino])):
                    with pytest.raises(error) as e:
                        read(ino)
                    assert e.value.filename == ino
        with pytest.raises(TypeError):
            v.read_bytes(1.5)


def test_read_many_interleaved(volume, path):
    """Generators and blocks may end in any order. Each sees one state, and the last one ends the transaction."""
    for i in range(100):
        volume.write_bytes(f"f{i}", b"%d" % i)
    names = [f"f{i}" for i in range(100)]
    with Volume(path) as v:
        a, b = v.read_many(names), v.read_many(reversed(names))
        assert next(a) == b"0" and next(b) == b"99"
        volume.write_bytes("f1", b"new")
        assert next(a) == b"1"
        a.close()
        assert list(b)[-2:] == [b"1", b"0"]
        assert v.read_bytes("f1") == b"new" and not v._tables().db.in_transaction
        with v.transaction():
            a = v.read_many(names)
            assert next(a) == b"0"
        volume.write_bytes("f2", b"new")
        assert [next(a), next(a)] == [b"new", b"2"]
        a.close()
        assert v.read_bytes("f2") == b"new"
        a = v.read_many(names)
        assert next(a) == b"0"
    a = volume.read_many(names)
    assert next(a) == b"0"
    with volume.transaction():
        volume.write_bytes("x", b"1")
        a.close()
        with pytest.raises(FileNotFoundError):
            volume.remove("no")
    assert volume.read_bytes("x") == b"1" and not volume._tables().db.in_transaction


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_known_directories(path, mode):
    """Directories are kept in mind from one transaction to the next, until another connection changes the volume."""
    with sqlite3.connect(path) as db:
        assert db.execute(f"PRAGMA journal_mode = {mode}").fetchone() == (mode,)
    with Volume(path, writable=True) as w, Volume(path) as v:
        for i in range(100):
            w.mkdir(f"d{i % 3}", exist_ok=True)
            w.write_bytes(f"d{i % 3}/f", b"%d" % i)
            w.rename(f"d{i % 3}", "now")
            w.mkdir(f"d{i % 3}")
            if i % 2:
                w.write_bytes(f"d{i % 3}/f", b"other")
            names = ["now/f"] * 2 + [f"d{i % 3}/f"] * (i % 2)
            assert list(v.read_many(names)) == [b"%d" % i] * 2 + [b"other"] * (i % 2)
            if i % 2 == 0:
                with pytest.raises(FileNotFoundError):
                    list(v.read_many([f"d{i % 3}/f"]))
            known = v._local.known
            assert next(v.read_many(["now/f"])) == b"%d" % i and v._local.known is known
            w.remove_tree(f"d{i % 3}")
            w.rename("now", f"d{i % 3}")


@pytest.mark.parametrize("seed", range(3))
def test_read_many_finds_what_read_bytes_finds(path, seed):
    """Any paths and numbers, of small and large files, with holes, empty, missing, through links: each as by itself."""
    r = random.Random(seed)
    with Volume(path, writable=True) as w, Volume(path) as v:
        files = []
        for i in range(60):
            if i % 10 == 0:
                w.mkdir(f"d{i}")
                w.symlink(f"d{i}", f"l{i}")
            name = f"{'dl'[i % 2]}{i - i % 10}/{i}"
            files += [name, f"./{name}", f"/{name}", f"{name}/../{i}", f"{name}x", f"d{i}/no", f"d{i - i % 10}/{i + 1000}"]
            w.write_bytes(name, r.randbytes(r.choice([0, 1, 10_240, 65_535, 65_536, 65_537, 200_000])))
            ino = w.stat(name).st_ino
            files += [ino, ino + 1]
            if r.random() < 0.2:  # a hole at the end
                with sqlite3.connect(path) as db:
                    db.execute("UPDATE node SET size = size + 100, holes = holes + 100 WHERE ino = ?", (ino,))
        found, refused = {}, {}
        for f in files:
            try:
                found[f] = v.read_bytes(f)
            except OSError as e:
                refused[f] = type(e)
        good = [f for f in files if f in found]
        assert len(good) > 150 and len(refused) > 100
        for _ in range(30):
            some = r.choices(good, k=r.randrange(100))
            assert list(v.read_many(some)) == [found[f] for f in some]
            bad = r.choice([*refused])
            if r.random() < 0.5:
                some = [f for f in some if type(f) is type(bad)]
            several = v.read_many([*some, bad, *some])
            with pytest.raises(refused[bad]) as e:
                for i, data in enumerate(several):
                    assert data == found[some[i]]
            assert i + 1 == len(some) if some else True
            assert e.value.filename == bad


BAD = os.fsdecode(b"caf\xe9")  # of an old zip, in Latin-1


def test_names_that_are_not_utf8(volume, path):
    """They come and go as os has them."""
    with sqlite3.connect(path) as db:
        volume.write_bytes("x", b"1")
        db.execute("UPDATE entry SET name = CAST(? AS TEXT) WHERE name = 'x'", (b"caf\xe9",))
    volume.write_bytes("good", b"2")
    with Volume(path) as v:
        assert v.listdir() == [BAD, "good"]
        assert list(v.walk()) == [("", [], [BAD, "good"])]
        assert [name for name, _ in v.files()] == [BAD, "good"]
        assert v.read_bytes(BAD) == v.open("./" + BAD).read() == b"1"
        assert list(v.read_many(["good", BAD, "good"])) == [b"2", b"1", b"2"]
        with v.transaction():
            assert v.read_bytes(BAD) == b"1"
        assert v.is_file(BAD) and not v.exists(BAD + BAD)
    volume.write_bytes(BAD, b"new")
    volume.chmod(BAD, 0o600)
    volume.rename(BAD, "good")
    assert volume.listdir() == ["good"] and volume.read_bytes("good") == b"new"
    volume.mkdir(f"{BAD}/{BAD}", parents=True)
    volume.write_bytes(f"{BAD}/f", b"3", mode=0o640)
    volume.write_bytes(f"{BAD}/{BAD}/{BAD}", os.urandom(200_000))
    volume.symlink(BAD, "link")
    assert volume.readlink("link") == BAD and volume.read_bytes("link/f") == b"3"
    assert list(volume.walk(BAD)) == [(BAD, [BAD], ["f"]), (f"{BAD}/{BAD}", [], [BAD])]
    assert volume.stat(f"{BAD}/f").st_mode == stat.S_IFREG | 0o640
    with pytest.raises(FileExistsError):
        volume.mkdir(f"{BAD}/{BAD}")
    with pytest.raises(FileNotFoundError):
        volume.write_bytes(f"no/{BAD}", b"")
    volume.rename(f"{BAD}/{BAD}", BAD + "2")
    volume.remove_tree(BAD)
    assert volume.listdir() == [BAD + "2", "good", "link"]
    with pytest.raises(UnicodeEncodeError):  # as os.stat does
        volume.read_bytes("\ud800")


def test_names_with_nul(volume):
    volume.write_bytes("f", b"")
    for call in (lambda: volume.rename("f", "a\0b"), lambda: volume.mkdir(BAD + "\0"), lambda: volume.write_bytes("a\0b", b"")):
        with pytest.raises(OSError, match="NUL"):
            call()
    assert volume.listdir() == ["f"]


def test_relative_path(tmp_path, monkeypatch):
    """A Volume stays with its file when the process goes to another directory."""
    for name in "a", "b":
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        folio_fs.create("v.folio")
        with Volume("v.folio", writable=True) as v:
            v.write_text("where", name)
    monkeypatch.chdir(tmp_path / "a")
    with Volume("v.folio") as v:
        monkeypatch.chdir(tmp_path / "b")
        found = []
        thread = threading.Thread(target=lambda: found.append(v.read_text("where")))
        thread.start()
        thread.join()
        assert found == ["a"]
        assert pickle.loads(pickle.dumps(v)).read_text("where") == "a"
        assert VolumePath(v) != VolumePath(Volume("v.folio"))


def test_directory_is_no_volume(tmp_path):
    with pytest.raises(IsADirectoryError, match="not a directory"):
        Volume(tmp_path)
    with pytest.raises(FileNotFoundError):
        Volume("")


def test_paths_of_pathlib(volume):
    d, f = Path("d"), PurePosixPath("d/f")
    volume.mkdir(d / "e", parents=True)
    volume.write_bytes(f, b"1")
    volume.write_text(d / "t", "2")
    volume.symlink(Path("f"), d / "link")
    assert volume.read_bytes(f) == volume.open(d / "link").read() == volume.read_bytes(PureWindowsPath("d") / "f") == b"1"
    assert volume.read_text(d / "t") == "2" and volume.readlink(d / "link") == "f"
    assert volume.exists(f) and volume.is_file(f) and volume.is_dir(d) and volume.stat(f).st_size == 1
    assert volume.listdir(d) == [e.name for e in volume.scandir(d)] == ["e", "f", "link", "t"]
    assert list(volume.walk(d))[0][0] == "d" and [p for p, _ in volume.files(d)] == ["d/f", "d/t"]
    with Volume(volume.path) as v:
        ino = v.stat(f).st_ino
        assert list(v.read_many([f, d / "t"])) == list(v.read_many([ino, "d/t"])) == list(v.read_many(["d/f", d / "t"])) == [b"1", b"2"]
    volume.chmod(f, 0o600)
    volume.utime(f, 5)
    volume.rename(d / "t", d / "u")
    volume.remove(d / "u")
    volume.remove_tree(d)
    assert volume.listdir() == []
    with pytest.raises(FileNotFoundError) as e:
        volume.stat(f)
    assert e.value.filename == "d/f"
