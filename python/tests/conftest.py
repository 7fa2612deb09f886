import os
import shutil
import socket
import subprocess
import time
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
def go():
    """Run the go command in a directory of this tree, and return what it writes."""
    command = shutil.which("go")
    if command is None:
        pytest.skip("no go command")
    root = Path(os.environ.get("FOLIO_SOURCE", Path(__file__).parents[2]))

    def run(directory: str, *args: str) -> str:
        return subprocess.run([command, *args], cwd=root / directory, check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture(scope="session")
def folio(go, tmp_path_factory):
    """The command folio, built of this tree."""
    binary = tmp_path_factory.mktemp("bin") / "folio"
    go("cmd/folio", "build", "-o", str(binary), ".")

    def run(*args: str) -> str:
        return subprocess.run([str(binary), *args], check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture
def bucket(go, tmp_path, monkeypatch):
    """The URL of a bucket, on a server of S3 that the module tools pins."""
    try:
        program = go("tools", "tool", "-n", "versitygw").strip()
    except subprocess.CalledProcessError as e:
        if os.environ.get("FOLIO_TEST_S3"):
            raise
        pytest.skip(f"the S3 server cannot be built: {e.stderr}")
    (tmp_path / "s3" / "bucket").mkdir(parents=True)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    for name in "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY":
        monkeypatch.setenv(name, "folio-key")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)  # the server speaks plain HTTP
    server = subprocess.Popen(
        [program, "--port", f"127.0.0.1:{port}", "--access", "folio-key", "--secret", "folio-key", "--quiet", "posix", str(tmp_path / "s3")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(500):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, "the S3 server has ended"
            time.sleep(0.02)
        yield f"s3://bucket/replica?endpoint=http://127.0.0.1:{port}&region=us-east-1&forcePathStyle=true"
    finally:
        server.terminate()
        server.wait()
