"""VolumePath, next to pathlib."""

import re
from pathlib import Path, PurePosixPath

import pytest

from folio_fs import Volume, VolumePath, create


@pytest.fixture
def root(volume):
    return VolumePath(volume)


def fill(top):
    """Make a tree on disk or in a volume."""
    for name in "a/b/c", "a/.d", "e", "x.d":
        (top / name).mkdir(parents=True)
    for name in "a/1.txt", "a/b/2.txt", "a/b/c/3.tar.gz", "a/.d/4.txt", "e/a.TXT", "5.txt", "x.d/6", "[x]":
        (top / name).write_text(name)
    (top / "link").symlink_to("a")
    (top / "e/dangling").symlink_to("no")


PATTERNS = (
    "*", "*.txt", "a/*", "*/*", "*/*.txt", "**/*.txt", "**/*", "a/**/*", "**/b/*", "**/b/**/*", "link/*", "l*/b", "no/*", "5.txt/*",
    "5.txt", "a/b/c", "**/c", "**/[bc]", "?", "*.[dt]*", "[[]x]", "e/dang*", ".*", "**/.d/*", "./a/*.txt", "a/no", "**/3.*.gz",
)  # fmt: skip


def test_glob_finds_what_pathlib_finds(root, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    fill(root)
    fill(disk)
    for pattern in PATTERNS:
        for method in "glob", "rglob":
            if method == "rglob" and "**" in pattern:
                continue  # pathlib yields some twice
            want = sorted(p.relative_to(disk).as_posix() for p in getattr(disk, method)(pattern))
            assert sorted(str(p) for p in getattr(root, method)(pattern)) == sorted(set(want)), (method, pattern)
    assert sorted(root.glob("a/**")) == sorted(p for p in root.rglob("*") if p.is_relative_to("a"))
    assert [*root.glob("e/dangling")] == [root / "e/dangling"]  # as from Python 3.13 on
    assert [*(root / "5.txt").glob("*")] == [*(root / "no").rglob("*")] == []
    with pytest.raises(ValueError):
        next(root.glob(""))
    with pytest.raises(NotImplementedError):
        next(root.glob("/a"))


def test_pure(root):
    p = root / "a" / PurePosixPath("b") / "x.tar.gz"
    want = PurePosixPath("a/b/x.tar.gz")
    assert str(p) == p.as_posix() == str(want) and root.joinpath("a", "b", "x.tar.gz") == p
    for name in "name", "stem", "suffix", "suffixes", "parts":
        assert getattr(p, name) == getattr(want, name)
    assert [str(q) for q in p.parents] == ["a/b", "a", ""] and p.parents[-1] == root
    assert str(p.with_name("y")) == "a/b/y" and str(p.with_stem("y")) == "a/b/y.gz" and str(p.with_suffix("")) == "a/b/x.tar"
    assert p.relative_to("a") == p.relative_to(root / "a") == p.relative_to("/a/") == PurePosixPath("b/x.tar.gz")
    assert p.is_relative_to("a/b") and not p.is_relative_to("b") and p.match("*.gz") and not p.match("*.zip")
    with pytest.raises(ValueError):
        p.relative_to("b")
    names = ["b", "a/b", "a", "a.b", ""]
    assert [q._pure for q in sorted(root / n for n in names)] == sorted(map(PurePosixPath, names))
    assert root / "a" <= root / "a" < root / "b" and root / "b" > root / "a"
    with pytest.raises(TypeError):
        assert root < "a"


def test_open(root, path):
    p = root / "f"
    with p.open("w") as f:
        f.write("é\n")
        assert not p.exists()
    assert p.read_text() == "é\n" and p.open().readlines() == ["é\n"] and p.open("rb").read() == "é\n".encode()
    with p.open("at", encoding="latin-1", newline="\r\n") as f:
        f.write("é\n")
    assert p.read_bytes() == b"\xc3\xa9\n\xe9\r\n" and p.open(errors="replace").read() == "é\n\ufffd\n"
    for mode in "w", "wb", "a", "ab":
        with pytest.raises(KeyError), p.open(mode) as f:
            f.write("half" if "b" not in mode else b"half")
            raise KeyError
    assert p.read_bytes() == b"\xc3\xa9\n\xe9\r\n"
    with pytest.raises(FileExistsError):
        p.open("xb")
    with (root / "new").open("bx") as f, pytest.raises(FileExistsError), (root / "new").open("x"):
        assert f.write(b"1") == 1
        f.close()
    for bad, error in ("no/f", FileNotFoundError), ("f/f", NotADirectoryError), ("", IsADirectoryError):
        with pytest.raises(error):
            (root / bad).open("wb")
    for mode in "r+", "rw", "", "wbt", "q":
        with pytest.raises(ValueError):
            p.open(mode)
    with Volume(path) as v, pytest.raises(OSError, match="Read-only"):
        VolumePath(v, "f").open("w")


def test_files(root, tmp_path):
    p = root / "f"
    p.touch(mode=0o600)
    assert p.stat().st_size == 0 and p.stat().st_mode & 0o777 == 0o600
    root.volume.utime("f", 1)
    p.touch()
    assert p.stat().st_mtime > 1e9
    with pytest.raises(FileExistsError):
        p.touch(exist_ok=False)
    p.chmod(0o640)
    assert p.stat().st_mode & 0o777 == 0o640
    assert p.write_text("é") == 1 and p.write_bytes(memoryview(b"12")) == 2 and (root / "f").read_text() == "12"
    link = root / "link"
    link.symlink_to("f")
    assert link.is_symlink() and not p.is_symlink() and not (root / "no").is_symlink()
    assert link.readlink() == PurePosixPath("f") and link.samefile(p) and link.lstat().st_ino != p.stat().st_ino
    (root / "g").touch()
    assert p.replace(root / "g") == root / "g" and (root / "g").read_text() == "12" and not p.exists()
    (root / "d").mkdir()
    with pytest.raises(IsADirectoryError):
        (root / "d").unlink()
    with pytest.raises(NotADirectoryError):
        link.rmdir()
    (root / "no").unlink(missing_ok=True)
    with pytest.raises(FileNotFoundError):
        (root / "no").unlink()
    assert list(root.walk()) == [(root, ["d"], ["g", "link"]), (root / "d", [], [])]
    link.unlink()
    (root / "d").rmdir()
    assert [q.name for q in root.iterdir()] == ["g"]
    other = str(tmp_path / "other.folio")
    create(other)
    with Volume(other) as v, pytest.raises(ValueError, match="another volume"):
        (root / "g").rename(VolumePath(v, "g"))


def test_readme_names_the_methods_that_are_not_there():
    readme = Path(__file__).parents[1] / "README.md"
    said = re.search(r"Of `pathlib.Path` it has not:\n(.*?)\n\n", readme.read_text("utf-8"), re.S)
    named = set(re.findall(r"`(\w+)`", said[1]))
    missing = {name for name in dir(Path) if not name.startswith("_") and not hasattr(VolumePath, name)}
    assert missing <= named
    assert not [name for name in named if hasattr(VolumePath, name)]
