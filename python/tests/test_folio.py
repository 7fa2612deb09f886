"""Volumes that the command folio writes and reads."""

import os
import random

import pytest

from folio_fs import Volume


def test_folio_reads_what_python_wrote(path, folio, tmp_path):
    with Volume(path, writable=True) as v:
        v.mkdir("a/b", parents=True)
        v.write_bytes("a/b/x", b"hello")
        v.write_bytes("a/large", os.urandom(200_000))
        v.remove("a/b/x")
        v.write_bytes("a/b/x", b"again")
    assert folio("cat", path + ":a/b/x") == "again"
    assert "ok" in folio("check", path)


def test_python_reads_what_folio_wrote(folio, tmp_path):
    tree = tmp_path / "tree"
    r = random.Random(3)
    for i in range(200):
        d = tree / f"{i % 7}" / f"{i % 3}"
        d.mkdir(parents=True, exist_ok=True)
        (d / f"f{i}").write_bytes(r.randbytes(r.choice([0, 1, 5000, 70_000, 200_000])))
    with open(tree / "sparse", "wb") as f:
        f.truncate(300_000)
        f.seek(150_000)
        f.write(b"data")
    os.symlink("sparse", tree / "link")
    name = str(tmp_path / "x.folio")
    folio("import", str(tree), name)
    with Volume(name) as v:
        for top, _, files in v.walk():
            for file in files:
                p = f"{top}/{file}" if top else file
                assert v.read_bytes(p) == (tree / p).read_bytes(), p
                assert v.stat(p).st_mtime_ns == os.stat(tree / p).st_mtime_ns


def test_snapshots(path, folio):
    r = random.Random(5)
    states = {}
    with Volume(path, writable=True) as v:
        v.mkdir("d")
        for step in range(12):
            for _ in range(20):
                name = r.choice(["", "d/"]) + r.choice("abcef")
                match r.randrange(5):
                    case 0 if v.exists(name):
                        v.remove(name)
                    case 1 if v.exists(name):
                        v.rename(name, "d/" + r.choice("xyz"))
                    case _:
                        v.write_bytes(name, r.randbytes(r.choice([0, 10, 2000, 100_000])))
            folio("snapshot", "create", path, f"s{step}")
            states[f"s{step}"] = tree_of(v)
        assert v.snapshots() == list(states)
        assert "ok" in folio("check", path)
    for name, want in states.items():
        with Volume(path, snapshot=name) as v:
            assert tree_of(v) == want
            numbers = {p: e.ino for p, e in v.files()}
            assert dict(zip(numbers, v.read_many(numbers.values()), strict=True)) == dict(zip(numbers, v.read_many(numbers)))
            with Volume(path, writable=True) as now:
                now.write_bytes("younger", b"")
                younger = now.stat("younger").st_ino
            for read in v.read_bytes, lambda ino: list(v.read_many([ino])):
                with pytest.raises(FileNotFoundError):
                    read(younger)


def test_snapshot_removed(path, folio):
    """A snapshot that is removed while it is open does not show later files in its place."""
    with Volume(path, writable=True) as v:
        v.write_bytes("f", b"old")
        folio("snapshot", "create", path, "a")
        folio("snapshot", "create", path, "b")
        v.write_bytes("f", b"new")
        with Volume(path, snapshot="a") as a, Volume(path, snapshot="b") as b:
            assert a.read_bytes("f") == b.read_bytes("f") == b"old"
            f = b.open("f")
            folio("snapshot", "remove", path, "a")
            for call in (a.read_bytes, a.stat, a.open):
                with pytest.raises(FileNotFoundError, match="removed"):
                    call("f")
            folio("snapshot", "remove", path, "b")
            for call in (lambda: b.read_bytes("f"), b.listdir, f.read):
                with pytest.raises(FileNotFoundError, match="removed"):
                    call()


def test_clones(path, folio):
    data = os.urandom(300_000)
    with Volume(path, writable=True) as v:
        v.write_bytes("a", data)
        folio("cp", "--reflink=always", path + ":a", path + ":b")
        assert v.read_bytes("b") == data
        v.write_bytes("a", b"other")
        assert v.read_bytes("b") == data
        folio("cp", "--reflink=always", path + ":b", path + ":c")
        folio("snapshot", "create", path, "s")
        v.write_bytes("c", b"changed")
        v.remove("b")
        assert v.read_bytes("c") == b"changed"
    with Volume(path, snapshot="s") as v:
        assert v.read_bytes("b") == v.read_bytes("c") == data
    assert "ok" in folio("check", path)


def test_names_that_are_not_utf8(folio, tmp_path):
    tree = tmp_path / "tree"
    (tree / os.fsdecode(b"d\xe9")).mkdir(parents=True)
    try:
        (tree / os.fsdecode(b"d\xe9/f\xff")).write_bytes(b"1")
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    name, out = str(tmp_path / "x.folio"), tmp_path / "out"
    folio("import", str(tree), name)
    folio("snapshot", "create", name, "s")
    with Volume(name, writable=True) as v:
        assert [p for p, _ in v.files()] == [os.fsdecode(b"d\xe9/f\xff")]
        v.write_bytes(os.fsdecode(b"d\xe9/new\xff"), b"2")
        v.rename(os.fsdecode(b"d\xe9/f\xff"), os.fsdecode(b"\xff"))
    with Volume(name, snapshot="s") as v:
        assert list(tree_of(v)) == [os.fsdecode(b"d\xe9/f\xff")]
        assert v.read_bytes(os.fsdecode(b"d\xe9/f\xff")) == b"1"
    assert "ok" in folio("check", name)
    folio("export", name, str(out))
    assert {os.fsencode(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()} == {
        b"\xff": b"1",
        b"d\xe9/new\xff": b"2",
    }


def tree_of(v):
    return {
        f"{top}/{name}": (v.read_bytes(f"{top}/{name}"), v.stat(f"{top}/{name}").st_mtime_ns)
        for top, _, files in v.walk()
        for name in files
    }
