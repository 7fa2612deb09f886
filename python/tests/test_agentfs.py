"""AgentFS's own SDK reads and changes what folio exports to AgentFS, and folio takes it in again.

FOLIO_AGENTFS_TREE is a directory of which the SDK reads each file.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from folio_fs import Volume

pytest.importorskip("agentfs_sdk", reason="no AgentFS: pip install agentfs-sdk")


def agentfs(database: str, body: str) -> None:
    """Run code with an AgentFS database, in a process of its own: a database stays locked until its process ends."""
    lines = [
        "import asyncio, sys",
        "from agentfs_sdk import AgentFS, AgentFSOptions",
        "async def main():",
        "    agent = await AgentFS.open(AgentFSOptions(path=sys.argv[1]))",
        "    fs = agent.fs",
        *("    " + line for line in body.splitlines()),
        "    await agent.close()",
        "asyncio.run(main())",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines), database], check=True)


def test_agentfs(path, folio, tmp_path):
    large = os.urandom(300_000)
    with Volume(path, writable=True) as v:
        v.mkdir("dir")
        v.write_text("dir/a.txt", "hello")
        v.write_bytes("large", large)
        v.write_bytes("empty", b"")
        v.symlink("dir/a.txt", "link")
    database = str(tmp_path / "a.agentfs")
    folio("export", path, database)
    (tmp_path / "large").write_bytes(large)
    agentfs(
        database,
        f"""
large = open({str(tmp_path / "large")!r}, "rb").read()
assert sorted(await fs.readdir("/")) == ["dir", "empty", "large", "link"]
assert await fs.read_file("/dir/a.txt") == "hello"
assert await fs.read_file("/large", encoding=None) == large
assert await fs.read_file("/empty", encoding=None) == b""
assert (await fs.stat("/link")).is_symbolic_link()
await fs.write_file("/dir/new/b.bin", large[::-1])
await fs.write_file("/large", "short")
await fs.rm("/empty")
await agent.kv.set("key", {{"value": 1}})
""",
    )
    back = str(tmp_path / "back.folio")
    folio("import", database, back)
    with Volume(back) as v:
        assert v.read_text("dir/a.txt") == "hello"
        assert v.read_bytes("dir/new/b.bin") == large[::-1]
        assert v.read_text("large") == "short"
        assert not v.exists("empty")
        assert v.readlink("link") == "dir/a.txt"
    folio("check", back)


def test_tree(folio, tmp_path):
    tree = os.environ.get("FOLIO_AGENTFS_TREE", str(Path(__file__).parent))
    database = str(tmp_path / "tree.agentfs")
    folio("convert", tree, database)
    agentfs(
        database,
        f"""
import os
for top, dirs, files in os.walk({tree!r}):
    at = top[len({tree!r}) :]
    assert sorted(await fs.readdir(at or "/")) == sorted(dirs + files), top
    for name in files:
        disk, found = os.lstat(top + "/" + name), await fs.stat(at + "/" + name)
        assert (found.mode, found.uid, found.gid, found.size) == (disk.st_mode, disk.st_uid, disk.st_gid, disk.st_size), at + "/" + name
        assert (found.mtime, found.nlink) == (int(disk.st_mtime), disk.st_nlink), at + "/" + name
        if disk.st_mode & 0o170000 == 0o100000:
            assert await fs.read_file(at + "/" + name, encoding=None) == open(top + "/" + name, "rb").read(), at + "/" + name
""",
    )


def test_made_by_agentfs(folio, tmp_path):
    database = str(tmp_path / "agent.db")
    agentfs(
        database,
        """
for i in range(50):
    await fs.write_file(f"/d{i % 5}/f{i}", bytes([i]) * i * 500)
await fs.rm("/d3", recursive=True)
""",
    )
    volume = str(tmp_path / "v.folio")
    folio("convert", database, volume)
    with Volume(volume) as v:
        assert sorted(v.listdir("")) == ["d0", "d1", "d2", "d4"]
        for i in range(50):
            if i % 5 != 3:
                assert v.read_bytes(f"d{i % 5}/f{i}") == bytes([i]) * i * 500
