import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_dataset(volume):
    volume.mkdir("d/e", parents=True)
    volume.write_bytes("d/a", b"12345")
    volume.write_bytes("d/e/b", b"123")
    out = subprocess.run([sys.executable, EXAMPLES / "dataset.py", volume.path, "d"], check=True, capture_output=True, text=True)
    assert out.stdout == "2 files, 8 bytes\n"


def test_mount(volume, tmp_path):
    try:
        import fuse  # noqa: F401
    except (ImportError, OSError) as e:  # no fusepy, or no libfuse
        pytest.skip(str(e))
    if not os.access("/dev/fuse", os.W_OK) or shutil.which("fusermount") is None:
        pytest.skip("no FUSE")
    volume.mkdir("d")
    data = os.urandom(300_000)
    volume.write_bytes("d/a", data)
    volume.symlink("d/a", "link")
    where = tmp_path / "mnt"
    where.mkdir()
    process = subprocess.Popen([sys.executable, EXAMPLES / "mount.py", volume.path, where])
    try:
        while not os.path.ismount(where) and process.poll() is None:
            time.sleep(0.01)
        assert sorted(os.listdir(where)) == ["d", "link"]
        assert (where / "link").read_bytes() == data
        assert os.stat(where / "d" / "a").st_size == len(data)
        with pytest.raises(FileNotFoundError):
            (where / "no").read_bytes()
    finally:
        subprocess.run(["umount", where], check=False)
        process.wait(timeout=20)
