"""fsspec's own tests, and some of ours."""

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem, make_path_posix
from fsspec.tests.abstract import AbstractFixtures
from fsspec.tests.abstract.copy import AbstractCopyTests
from fsspec.tests.abstract.get import AbstractGetTests
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
        return "base"

    @pytest.fixture
    def supports_empty_directories(self):
        return True


class TestCopy(AbstractCopyTests, Fixtures):
    pass


class TestGet(AbstractGetTests, Fixtures):
    pass


class TestPut(AbstractPutTests, Fixtures):
    pass


def test_url(path):
    with fsspec.open(f"folio://a/b.csv::{path}", "wt", folio={"writable": True}) as f:
        f.write("x,y\n1,2\n")
    with fsspec.open(f"folio://a/b.csv::{path}", "rt") as f:
        assert f.read() == "x,y\n1,2\n"
    fs = fsspec.filesystem("folio", fo=path)
    assert fs.find("") == ["a/b.csv"]
    assert fs.glob("**/*.csv") == ["a/b.csv"]
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
