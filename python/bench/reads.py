"""Random reads of small files from a large volume, next to py-lmdb with the same contents.

    python bench/reads.py DIRECTORY     # needs: pip install lmdb; the command folio on PATH; 4 GB in DIRECTORY

The volume has 1,000,000 files of 100 bytes and 100,000 of 10 KB, and so has the lmdb environment, by the paths as keys.
The contenders take turns, each time in another order, and read other files each time, after one pass over all files: so all
pages are in memory and mapped, for both. A read checks the length of what it gets; the bytes of a thousand files are
compared before. Two contenders are floors, statements of SQLite without the package: the row of a content by its number,
and a file by its path. What folio-fs costs beyond SQLite is the difference to those. All is done twice: with the volume in
the journal mode DELETE, in which a read takes and gives back a lock by seven calls of the system, and in WAL, by three.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import shutil
import sqlite3
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


Reader = Callable[[list[str]], None]


def check(data: bytes, path: str) -> None:
    if len(data) != LARGE:
        raise SystemExit(f"{path}: another length")


def each(read: Callable[[str], bytes]) -> Reader:
    """Return what reads one file after the other."""

    def run(sample: list[str]) -> None:
        for path in sample:
            check(read(path), path)

    return run


def at_once(volume: Volume, read: Reader) -> Reader:
    """Return what reads in one transaction."""

    def run(sample: list[str]) -> None:
        with volume.transaction():
            read(sample)

    return run


def many(volume: Volume, file: Callable[[str], str | int]) -> Reader:
    """Return what reads by read_many, in batches of 1,000."""

    def run(sample: list[str]) -> None:
        for i in range(0, len(sample), 1000):
            batch = sample[i : i + 1000]
            for path, data in zip(batch, volume.read_many(map(file, batch)), strict=True):
                check(data, path)

    return run


def lmdb_reader(name: str) -> Callable[[str], bytes]:
    env = lmdb.open(name, readonly=True, lock=True)

    def read(path: str) -> bytes:
        with env.begin() as txn:
            value = txn.get(path.encode())
        assert value is not None
        return value

    return read


def row_reader(volume: Volume, numbers: dict[str, int]) -> Callable[[str], bytes]:
    """The least that SQLite can do: the row of a content whose number is known."""
    cursor = volume._tables().db.cursor()
    return lambda path: cursor.execute("SELECT bytes FROM data WHERE id = ?", (numbers[path] << 28,)).fetchone()[0]


def statement_reader(volume: Volume) -> Callable[[str], bytes]:
    """A file of three names, without looking at its inode."""
    cursor = volume._tables().db.cursor()
    sql = (
        "SELECT d.bytes FROM entry AS a JOIN entry AS b ON b.parent = a.ino JOIN entry AS c ON c.parent = b.ino"
        " JOIN data AS d ON d.id = c.ino << 28 WHERE a.parent = 1 AND a.name = ? AND b.name = ? AND c.name = ?"
    )
    return lambda path: cursor.execute(sql, path.split("/")).fetchone()[0]


def compare(args: argparse.Namespace, volume: str, lmdb_read: Callable[[str], bytes]) -> None:
    every = list(paths(args.large, "large"))
    clock = time.process_time if args.cpu else time.perf_counter
    with Volume(volume) as v:
        numbers = {path: entry.ino for path, entry in v.files("large")}
        statement, row = each(statement_reader(v)), each(row_reader(v, numbers))
        contenders: dict[str, Reader] = {
            "py-lmdb, a transaction for each": each(lmdb_read),
            "row by its number": row,
            "row by its number, in a transaction": at_once(v, row),
            "path by a statement": statement,
            "path by a statement, in a transaction": at_once(v, statement),
            "read_bytes": each(v.read_bytes),
            "read_bytes, by number": each(lambda path: v.read_bytes(numbers[path])),
            "read_bytes, in a transaction": at_once(v, each(v.read_bytes)),
            "read_bytes, by number, in a transaction": at_once(v, each(lambda path: v.read_bytes(numbers[path]))),
            "read_many": many(v, str),
            "read_many, by number": many(v, numbers.__getitem__),
        }
        many(v, str)(every)  # so that all pages of both are in memory, and mapped
        each(lmdb_read)(every)
        same_bytes(v, every[:: max(len(every) // 1000, 1)], numbers, lmdb_read)
        order, seconds = list(contenders), {name: list[float]() for name in contenders}
        for n in range(args.rounds):
            random.Random(n).shuffle(order)
            for name in order:
                sample = random.Random(f"{n} {name}").choices(every, k=args.reads // args.rounds)
                start = clock()
                contenders[name](sample)
                seconds[name].append((clock() - start) / len(sample))
        first = next(iter(seconds.values()))
        for name, list_of in seconds.items():
            ratio = statistics.median(a / b for a, b in zip(first, list_of))
            print(f"{name:40} {1e6 * statistics.median(list_of):6.2f} us, {ratio:.2f} of py-lmdb's rate")


def same_bytes(volume: Volume, sample: list[str], numbers: dict[str, int], lmdb_read: Callable[[str], bytes]) -> None:
    """Compare the contents that the contenders return."""
    by_number = volume.read_many(numbers[path] for path in sample)
    for path, data, numbered in zip(sample, volume.read_many(sample), by_number, strict=True):
        if not volume.read_bytes(path) == data == numbered == lmdb_read(path) == content(path, LARGE):
            raise SystemExit(f"{path}: another content")


def worker(volume: str, seed: int, large: int, count: int) -> tuple[int, float]:
    sample = random.Random(seed).choices(list(paths(large, "large")), k=count)
    start = time.perf_counter()
    with Volume(volume) as v:
        each(v.read_bytes)(sample)
    return count, count / (time.perf_counter() - start)


def opening(name: str) -> float:
    start = time.perf_counter()
    with Volume(name) as v:
        v.read_bytes("large/000/000.bin")
    return time.perf_counter() - start


def set_mode(name: str, mode: str) -> None:
    with contextlib.closing(sqlite3.connect(name)) as db:
        if db.execute(f"PRAGMA journal_mode = {mode}").fetchone() != (mode,):
            raise SystemExit(f"the volume cannot be set to the journal mode {mode}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--reads", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--cpu", action="store_true", help="measure the time of the processor: for a machine with other work")
    args = parser.parse_args()
    volume, env = str(args.directory / "reads.folio"), str(args.directory / "reads.lmdb")
    for name, build in (volume, build_volume), (env, build_lmdb):
        if not os.path.exists(name):
            start = time.perf_counter()
            build(name, args)
            print(f"{name}: built in {time.perf_counter() - start:.0f} s")
    print(f"SQLite {sqlite3.sqlite_version}, lmdb {'.'.join(map(str, lmdb.version()))}")
    lmdb_read = lmdb_reader(env)
    for mode in "delete", "wal":
        set_mode(volume, mode)
        print(f"\njournal mode {mode}")
        print(f"opening and the first read: {1000 * statistics.median(opening(volume) for _ in range(5)):.1f} ms")
        compare(args, volume, lmdb_read)
        with multiprocessing.get_context("spawn").Pool(args.workers) as pool:
            work = [(volume, i, args.large, args.reads // args.workers) for i in range(args.workers)]
            done = pool.starmap(worker, work)
        print(f"{args.workers} processes: {sum(n for n, _ in done):,} reads, no error, {sum(r for _, r in done):,.0f} a second")


if __name__ == "__main__":
    if shutil.which("folio") is None:
        raise SystemExit("no command folio on PATH")
    main()
