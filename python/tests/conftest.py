import os
import shutil
import subprocess
from pathlib import Path

import pytest

import folio_fs


@pytest.fixture
def path(tmp_path: Path) -> str:
    """An empty volume."""
    name = str(tmp_path / "test.folio")
    folio_fs.create(name)
    return name


@pytest.fixture
def volume(path: str):
    with folio_fs.Volume(path, writable=True) as v:
        yield v


@pytest.fixture(scope="session")
def folio(tmp_path_factory):
    """The command folio, built of this tree."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("no go command")
    root = Path(os.environ.get("FOLIO_SOURCE", Path(__file__).parents[2]))
    binary = tmp_path_factory.mktemp("bin") / "folio"
    subprocess.run([go, "build", "-o", str(binary), "."], cwd=root / "cmd" / "folio", check=True)

    def run(*args: str) -> str:
        return subprocess.run([str(binary), *args], check=True, capture_output=True, text=True).stdout

    return run
