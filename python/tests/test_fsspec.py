"""fsspec's own tests, and some of ours."""

import os
import pickle
import threading

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem, make_path_posix
from fsspec.tests.abstract import AbstractFixtures
from fsspec.tests.abstract.copy import AbstractCopyTests
from fsspec.tests.abstract.get import AbstractGetTests
from fsspec.tests.abstract.open import AbstractOpenTests
from fsspec.tests.abstract.pipe import AbstractPipeTests
from fsspec.tests.abstract.put import AbstractPutTests

from folio_fs import create
from folio_fs._fsspec import FolioFileSystem


class Fixtures(AbstractFixtures):
    @pytest.fixture(scope="class")
    def fs(self, tmp_path_factory):
        path = tmp_path_factory.mktemp("fsspec") / "test.folio"
        create(path)
        return FolioFileSystem(path, writable=True)

    @pytest.fixture
    def fs_path(self):
        return "/base"

    @pytest.fixture
    def supports_empty_directories(self):
        return True


class TestCopy(AbstractCopyTests, Fixtures):
    pass


class TestGet(AbstractGetTests, Fixtures):
    pass


class TestOpen(AbstractOpenTests, Fixtures):
    pass


class TestPipe(AbstractPipeTests, Fixtures):
    pass


class TestPut(AbstractPutTests, Fixtures):
    pass


def test_url(path):
    with fsspec.open(f"folio://a/b.csv::{path}", "wt", folio={"writable": True}) as f:
        f.write("x,y\n1,2\n")
    with fsspec.open(f"folio://a/b.csv::{path}", "rt") as f:
        assert f.read() == "x,y\n1,2\n"
    fs = fsspec.filesystem("folio", fo=path)
    assert fs.find("") == fs.find("/") == ["/a/b.csv"]
    assert fs.glob("**/*.csv") == fs.glob("/a/*.csv") == ["/a/b.csv"]
    assert fs.ls("", detail=False) == ["/a"] and fs.ls("a")[0]["name"] == "/a/b.csv"
    assert fs.cat_file("a/b.csv", 4, -1) == b"1,2"
    assert fs.info("a")["type"] == "directory"
    with pytest.raises(FileNotFoundError):
        fs.info("no")


def test_write_is_whole(path):
    fs = FolioFileSystem(path, writable=True)
    fs.pipe_file("f", b"old")
    with pytest.raises(RuntimeError), fs.open("f", "wb") as f:
        f.write(b"half")
        raise RuntimeError
    assert fs.cat_file("f") == b"old"
    with fs.open("f", "ab") as f:
        f.write(b" and new")
    assert fs.cat_file("f") == b"old and new"
    with pytest.raises(FileExistsError):
        fs.open("f", "xb")


def test_pandas(path):
    pandas = pytest.importorskip("pandas")
    FolioFileSystem(path, writable=True).pipe_file("t.csv", b"a,b\n1,2\n3,4\n")
    table = pandas.read_csv(f"folio://t.csv::{path}")
    assert table["b"].tolist() == [2, 4]


def test_zarr(path):
    zarr = pytest.importorskip("zarr")
    numpy = pytest.importorskip("numpy")
    fs = FolioFileSystem(path, writable=True)
    data = numpy.arange(10_000).reshape(100, 100)
    store = zarr.storage.FsspecStore.from_mapper(fs.get_mapper("data.zarr"))
    array = zarr.create_array(store, name="x", shape=data.shape, chunks=(10, 10), dtype=data.dtype)
    array[:] = data
    again = zarr.open_array(store, path="x", mode="r")
    assert (again[:] == data).all()


def test_local_stays(tmp_path):
    assert LocalFileSystem().exists(make_path_posix(str(tmp_path)))


@pytest.mark.parametrize("content", [5, [1, 2], "text", None])
def test_write_no_bytes(path, content):
    fs = FolioFileSystem(path, writable=True)
    with pytest.raises(TypeError):
        fs.pipe_file("new/f", content)
    with pytest.raises(TypeError), fs.open("g", "wb") as f:
        f.write(content)
    assert not fs.exists("new") and not fs.exists("g")


def change(fs):
    """Change a tree in every way, by one thread and by another."""
    with fs.open("new/f", "wb") as f:
        f.write(b"1")
    assert fs.cat("new/f") == b"1"  # seen by this thread
    with fs.open("new/packed.gz", "wt", compression="gzip") as f:
        f.write("2")
    with fs.open("old", "ab") as f:
        f.write(b" and new")
    fs.pipe_file("piped", b"3")
    fs.mkdir("d")
    fs.mv("moved", "d/moved")
    fs.cp_file("old", "copied")
    fs.rm("removed")
    fs.open("open", "wb").write(b"4")

    def other():
        with fs.open("other", "wb") as f:
            f.write(b"5")

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()


def tree(fs):
    return {name[1:]: fs.cat(name) for name in fs.find("")}


@pytest.fixture
def fs(path):
    fs = FolioFileSystem(path, writable=True)
    fs.pipe({"old": b"old", "moved": b"m", "removed": b"r"})
    return fs


def test_transaction(fs, path):
    reader = FolioFileSystem(path)
    before = tree(fs)
    with fs.transaction:
        change(fs)
        assert tree(reader) == before
    after = tree(reader)
    assert after.pop("new/packed.gz")[:2] == b"\x1f\x8b"
    assert after == {
        "old": b"old and new", "new/f": b"1", "piped": b"3", "d/moved": b"m", "copied": b"old and new", "open": b"4", "other": b"5",
    }
    assert not fs._intrans
    fs.pipe_file("later", b"6")
    assert reader.cat("later") == b"6"


def test_transaction_undone(fs, path):
    before = tree(fs)
    with pytest.raises(KeyError), fs.transaction:
        change(fs)
        raise KeyError
    assert tree(fs) == before and fs.ls("") == FolioFileSystem(path).ls("")
    assert not fs.exists("new") and not fs.exists("d") and not fs._intrans
    fs.start_transaction()
    change(fs)
    fs.transaction.complete(commit=False)
    assert tree(fs) == before
    with pytest.raises(RuntimeError, match="begun already"), fs.transaction:
        fs.pipe_file("f", b"half")
        with fs.transaction:
            fs.pipe_file("g", b"half")
    assert tree(fs) == before
    fs.start_transaction()
    fs.pipe_file("f", b"whole")
    fs.end_transaction()
    assert fs.cat("f") == b"whole"


def test_transaction_that_cannot_end(fs):
    """A file that cannot be written at the end undoes the others."""
    before = tree(fs)
    with pytest.raises(FileExistsError), fs.transaction:
        fs.pipe_file("f", b"1")
        f = fs.open("g", "xb")
        fs.pipe_file("g", b"2")
    assert tree(fs) == before and f.closed
    with fs.transaction:
        with pytest.raises(RuntimeError), fs.open("half", "wb") as f:
            f.write(b"half")
            raise RuntimeError
        fs.pipe_file("f", b"1")
    assert tree(fs) == before | {"f": b"1"}


def test_names_that_are_not_utf8(fs):
    bad = os.fsdecode(b"d\xe9")
    fs.pipe_file(f"{bad}/{bad}", b"1")
    assert fs.find(bad) == [f"/{bad}/{bad}"]
    assert fs.cat(f"{bad}/{bad}") == b"1" and fs.isdir(bad)
    fs.cp(bad, bad + "2", recursive=True)
    assert sorted(tree(fs)) == sorted([f"{bad}/{bad}", f"{bad}2/{bad}", "moved", "old", "removed"])


def test_relative_path(tmp_path, monkeypatch):
    for name in "a", "b":
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        create("v.folio")
        FolioFileSystem("v.folio", writable=True).pipe_file("where", name.encode())
    monkeypatch.chdir(tmp_path / "a")
    fs = fsspec.filesystem("folio", fo="v.folio")
    monkeypatch.chdir(tmp_path / "b")
    assert fs.cat("where") == b"a"
    assert fsspec.filesystem("folio", fo="v.folio").cat("where") == b"b"
    with fsspec.open("folio://where::v.folio") as f:
        assert f.read() == b"b"
    dumped, text = pickle.dumps(fs), fs.to_json()
    FolioFileSystem.clear_instance_cache()
    assert pickle.loads(dumped).cat("where") == FolioFileSystem.from_json(text).cat("where") == b"a"
    assert fsspec.filesystem("folio", fo=(tmp_path / "a" / "v.folio").as_uri()).cat("where") == b"a"


def test_copy_to_a_directory_that_ends_in_a_slash(fs, tmp_path):
    """Names without a slash at the front lead to where those with one lead."""
    fs.pipe_file("top", b"1")
    fs.mkdir("d")
    fs.cp("top", "d/")
    assert fs.cat("d/top") == b"1"
    fs.cp("top", "/d/new/")
    assert fs.cat("/d/new/top") == b"1"
    fs.pipe_file("src/f", b"2")
    for _ in range(2):
        fs.get("src", str(tmp_path / "target"), recursive=True)
    assert (tmp_path / "target/src/f").read_bytes() == b"2" and (tmp_path / "target/f").read_bytes() == b"2"
    assert fs.unstrip_protocol("/d") == "folio:///d" and fs._parent("d") == "/" and fs._parent("/d/top") == "/d"


def test_read_block(fs):
    fs.pipe_file("f", b"ab\ncd\nef\n")
    assert fs.read_block("f", 1, 4, b"\n") == b"cd\n" and fs.read_block("f", 4, None) == b"d\nef\n"
    assert (fs.head("f", 2), fs.tail("f", 3)) == (b"ab", b"ef\n")
    with fs.open("f") as f:
        assert (f.read(1), f.size, f.read(1)) == (b"a", 9, b"b")
    with fs.open("f", "rt") as f:
        assert f.readlines() == ["ab\n", "cd\n", "ef\n"]


def test_dask(fs, path):
    dataframe = pytest.importorskip("dask.dataframe")
    fs.pipe({"t/1.csv": b"a,b\n1,2\n3,4\n", "t/2.csv": b"a,b\n5,6\n"})
    assert dataframe.read_csv(f"folio://t/*.csv::{path}").b.sum().compute() == 12


def test_parquet(fs, path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pandas.DataFrame({"a": range(1000)})
    with fs.transaction:
        table.to_parquet("p/1.parquet", filesystem=fs)
    for directory in "/p", f"folio://p::{path}":
        assert pandas.read_parquet(directory, filesystem=fs if directory == "/p" else None).equals(table)


def test_xarray(fs):
    xarray = pytest.importorskip("xarray")
    zarr = pytest.importorskip("zarr")
    data = xarray.Dataset({"x": ("i", [1.0, 2.0, 3.0])})
    store = zarr.storage.FsspecStore.from_mapper(fs.get_mapper("x.zarr"))
    data.to_zarr(store, consolidated=False)
    assert xarray.open_zarr(store, consolidated=False).load().identical(data)
