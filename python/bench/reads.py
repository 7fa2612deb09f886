"""Random reads of small files from a large volume, next to py-lmdb with the same contents.

    python bench/reads.py DIRECTORY     # needs: pip install lmdb; the command folio on PATH; 4 GB in DIRECTORY

The volume has 1,000,000 files of 100 bytes and 100,000 of 10 KB, and so has the lmdb environment, by the paths as keys.
Rounds alternate. A read checks the length of what it gets. "statement" is one statement of SQLite that reads a file by
its path, without the package: what folio-fs costs beyond SQLite is the difference to that.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import lmdb

from folio_fs import Volume

SMALL, LARGE = 100, 10_240


def paths(count: int, top: str) -> Iterator[str]:
    for i in range(count):
        yield f"{top}/{i // 1000:03d}/{i % 1000:03d}.bin"


def content(path: str, size: int) -> bytes:
    return (path.encode() * (size // len(path) + 1))[:size]


def files(args: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    for path in paths(args.files, "small"):
        yield path, content(path, SMALL)
    for path in paths(args.large, "large"):
        yield path, content(path, LARGE)


def member(path: str, data: bytes) -> bytes:
    """Return a file as a tar archive has it, in a tenth of the time that tarfile takes."""
    header = bytearray(512)
    header[: len(path)] = path.encode()
    header[100:108], header[124:136], header[156:157] = b"0000644\0", b"%011o\0" % len(data), b"0"
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + data + bytes(-len(data) % 512)


def build_volume(name: str, args: argparse.Namespace) -> None:
    folio = subprocess.Popen(["folio", "import", "-q", "-", name], stdin=subprocess.PIPE, bufsize=1 << 20)
    assert folio.stdin is not None
    for path, data in files(args):
        folio.stdin.write(member(path, data))
    folio.stdin.write(bytes(1024))
    folio.stdin.close()
    if folio.wait() != 0:
        raise SystemExit("folio import failed")


def build_lmdb(name: str, args: argparse.Namespace) -> None:
    with lmdb.open(name, map_size=8 << 30) as env, env.begin(write=True) as txn:
        for path, data in files(args):
            txn.put(path.encode(), data)


def many(volume: Volume, sample: list[str]) -> float:
    """Return how many reads a second read_many does, in batches of 1,000."""
    start = time.perf_counter()
    for i in range(0, len(sample), 1000):
        if any(len(data) != LARGE for data in volume.read_many(sample[i : i + 1000])):
            raise SystemExit("another length")
    return len(sample) / (time.perf_counter() - start)


def reads(sample: list[str], read: Callable[[str], bytes]) -> float:
    """Return how many reads a second."""
    start = time.perf_counter()
    for path in sample:
        if len(read(path)) != LARGE:
            raise SystemExit(f"{path}: another length")
    return len(sample) / (time.perf_counter() - start)


def lmdb_reader(name: str) -> Callable[[str], bytes]:
    env = lmdb.open(name, readonly=True, lock=True)

    def read(path: str) -> bytes:
        with env.begin() as txn:
            value = txn.get(path.encode())
        assert value is not None
        return value

    return read


def sql_reader(volume: Volume) -> Callable[[str], bytes]:
    """The statement that read_bytes runs for three names."""
    db = volume._tables().db
    sql = (
        "SELECT d.bytes FROM entry AS a JOIN entry AS b ON b.parent = a.ino JOIN entry AS c ON c.parent = b.ino"
        " JOIN data AS d ON d.id = c.ino << 28 WHERE a.parent = 1 AND a.name = ? AND b.name = ? AND c.name = ?"
    )
    return lambda path: db.execute(sql, path.split("/")).fetchone()[0]


def worker(volume: str, seed: int, large: int, count: int) -> tuple[int, float]:
    sample = random.Random(seed).choices(list(paths(large, "large")), k=count)
    with Volume(volume) as v:
        rate = reads(sample, v.read_bytes)
    return count, rate


def opening(name: str) -> float:
    start = time.perf_counter()
    with Volume(name) as v:
        v.read_bytes("large/000/000.bin")
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--reads", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=8)
    args = parser.parse_args()
    volume, env = str(args.directory / "reads.folio"), str(args.directory / "reads.lmdb")
    for name, build in (volume, build_volume), (env, build_lmdb):
        if not os.path.exists(name):
            start = time.perf_counter()
            build(name, args)
            print(f"{name}: built in {time.perf_counter() - start:.0f} s")
    print(f"opening and the first read: {1000 * statistics.median(opening(volume) for _ in range(5)):.1f} ms")

    every = list(paths(args.large, "large"))
    with Volume(volume) as v:
        lmdb_read, statement = lmdb_reader(env), sql_reader(v)
        contenders: dict[str, Callable[[list[str]], float]] = {
            "read_many": lambda sample: many(v, sample),
            "read_bytes": lambda sample: reads(sample, v.read_bytes),
            "statement": lambda sample: reads(sample, statement),
            "py-lmdb": lambda sample: reads(sample, lmdb_read),
        }
        rates: dict[str, list[float]] = {name: [] for name in contenders}
        for n in range(args.rounds):
            names = list(contenders)
            for i, name in enumerate(names[n % len(names) :] + names[: n % len(names)]):  # each in each place
                sample = random.Random(f"{n} {i}").choices(every, k=args.reads // args.rounds)
                rates[name].append(contenders[name](sample))
        for name, list_of in rates.items():
            ratio = statistics.median(a / b for a, b in zip(list_of, rates["py-lmdb"]))
            print(f"{name:10} {statistics.median(list_of):10,.0f} reads a second, {ratio:.2f} of py-lmdb")

    with multiprocessing.get_context("spawn").Pool(args.workers) as pool:
        done = pool.starmap(worker, [(volume, i, args.large, args.reads // args.workers) for i in range(args.workers)])
    print(f"{args.workers} processes: {sum(n for n, _ in done):,} reads, no error, {sum(r for _, r in done):,.0f} a second")


if __name__ == "__main__":
    if shutil.which("folio") is None:
        raise SystemExit("no command folio on PATH")
    main()
