"""Writes hostile archives and databases: generate.py FIRST COUNT DIRECTORY CANARY [SEED_FILE...].

The file NUMBER.KIND follows from NUMBER, and from the seed files, alone. CANARY is the absolute path
of a file that nothing may touch. Seed files are sound archives, of which some inputs are damaged
copies. A line for each input says its name and what is wrong with it.
"""

import bz2
import gzip
import io
import os
import random
import sqlite3
import struct
import sys
import zlib

CANARY = ""
NUMBERS = [-1, 0, 1, 2, 3, 7, 255, 511, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 31, 1 << 32, 1 << 40, 1 << 53, 1 << 62, (1 << 63) - 1, -(1 << 63)]
MODES = [0, 0o644, 0o755, 0o40755, 0o40000, 0o100644, 0o104755, 0o120777, 0o20666, 0o60660, 0o10600, 0o140777, 0o170000, 0o30000, 0o200000, 0o7777]
SIZES = [0, 1, 5, 100, 511, 512, 513, 4095, 4096, 4097, 9000, 65535, 65536, 65537, 140_000]


def names(r):
    n = r.choice([1, 100, 254, 255, 256, 765, 766, 4095, 4096, 65535, 70_000])
    return r.choice([
        "..", ".", "", "/", "a/b", "/etc/x", "../canary", "../../canary", CANARY, "a/../../canary", "nul\0x", "\0", "x" * n, "é" * (n // 2),
        "a\\b", "..\\canary", "C:x", "new\nline", "\x1b[2J\x1b]0;x\x07", "\u202ecod.exe", "con", "a/", "a//b", "./a", "a/.", "a/..", "-rf", " ",
        "\udcff", "a\udc80b", "/".join("d" for _ in range(n // 2 + 1)), "link/in", "link", "d", "d/f", "f", "f/in",
    ])


def odd(r):
    """A value that no column expects."""
    return r.choice([
        None, r.choice(NUMBERS), r.choice(MODES), 1.5, -0.0, 1e300, float("inf"), "", "abc", "12", "0x10", " 7", "1e3", b"", b"\0\xff", b"12",
        "x" * 5000, "x" * r.choice([70_000, 1_000_000]), os.fsencode(names(r)), names(r).replace("\udcff", "?").replace("\udc80", "?"), "2021-02-03T04:05:06Z", "-1",
    ])


def content(r):
    n = r.choice(SIZES)
    return r.choice([bytes(n), r.randbytes(n), b"0123456789abcdef" * (n // 16)])


# Databases.


class Rows:
    """Makes a database by SQL, with rows that mutations have changed."""

    def __init__(self, r, path):
        self.r, self.what = r, []
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute(f"PRAGMA page_size={r.choice([512, 1024, 4096, 4096, 4096, 65536])}")
        self.db.execute(f"PRAGMA encoding='{r.choice(['UTF-8'] * 12 + ['UTF-16le', 'UTF-16be'])}'")
        self.db.execute(f"PRAGMA auto_vacuum={r.choice([0, 0, 0, 1, 2])}")
        self.db.execute("PRAGMA journal_mode=" + r.choice(["OFF"] * 5 + ["WAL"]))
        self.db.execute("PRAGMA synchronous=OFF")
        self.db.execute("BEGIN")

    def sql(self, text):
        """Creates a table, or something else under its name, or nothing."""
        k = self.r.random()
        if k < 0.01:
            self.what.append("no " + text[:24])
            return
        if k < 0.02:
            name = text.split("(")[0].split()[-1]
            text = self.r.choice([
                f"CREATE VIEW {name} AS SELECT 1 AS ino", f"CREATE TABLE {name} (a)", f"CREATE TABLE {name} (a PRIMARY KEY) WITHOUT ROWID",
                f"CREATE VIRTUAL TABLE {name} USING fts5(name)", f"CREATE TABLE other_{name} (a); CREATE INDEX {name} ON other_{name} (a)",
            ])
            self.what.append(text[:40])
        elif k < 0.04:
            text = self.r.choice([
                text.replace("INTEGER PRIMARY KEY", "INT PRIMARY KEY"), text + " WITHOUT ROWID", text.replace("TEXT", "BLOB COLLATE NOCASE"),
                text.replace("(", "(first_column DEFAULT 7, ", 1), text.replace("INTEGER", "REAL"), text[:-1] + ", g AS (1) STORED)",
            ])
            self.what.append("schema")
        for part in text.split(";"):
            try:
                self.db.execute(part)
            except sqlite3.Error as e:
                self.what.append(str(e)[:30])

    def add(self, table, *values):
        k = self.r.random() * (8 if table == "fs_data" else 1)
        if k < 0.012:
            self.what.append("missing row of " + table)
            return
        if k < 0.045:
            values = list(values)
            i = self.r.randrange(len(values))
            values[i] = names(self.r) if isinstance(values[i], str) and self.r.random() < 0.7 else odd(self.r)
            self.what.append(f"{table}[{i}]={str(values[i])[:12]!r}")
        marks, values = [], list(values)
        for i, v in enumerate(values):
            if isinstance(v, str) and any("\udc80" <= c <= "\udcff" for c in v):
                v = os.fsencode(v)
                marks.append("CAST(? AS TEXT)")
            else:
                marks.append("?")
            values[i] = v
        for _ in range(2 if k > 0.998 else 1):
            try:
                self.db.execute(f"INSERT INTO {table} VALUES ({', '.join(marks)})", values)
            except (sqlite3.Error, OverflowError, ValueError) as e:
                self.what.append(str(e)[:30])

    def close(self):
        try:
            self.db.execute("COMMIT")
            if self.r.random() < 0.05:
                self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as e:
            self.what.append(str(e)[:30])
        self.db.close()
        return self.what


def tree(r):
    """Some files: (number, parent, name, kind), the root first."""
    files, dirs = [(1, 0, "", "dir")], [1]
    for n in range(2, r.choice([3, 6, 12, 30])):
        kind = r.choice(["dir", "file", "file", "file", "link", "hard", "fifo"])
        files.append((n, r.choice(dirs), r.choice(["f", "d", "link", "a"]) if r.random() < 0.06 else f"n{n}", kind))
        if kind == "dir":
            dirs.append(n)
    return files


def sqlar(r, path):
    d = Rows(r, path)
    d.sql("CREATE TABLE sqlar(name TEXT" + r.choice([" PRIMARY KEY", ""]) + ", mode INT, mtime INT, sz INT, data BLOB)")
    at = {1: ""}
    for n, parent, name, kind in tree(r)[1:]:
        at[n] = full = at.get(parent, "") + name
        if kind == "dir":
            at[n] += "/"
            d.add("sqlar", full, 0o40755, 1, 0, None)
            continue
        if kind == "link":
            target = names(r) if r.random() < 0.2 else "d/f"
            d.add("sqlar", full, 0o120777, 1, -1, target)
            continue
        data = content(r)
        size, lie = len(data), r.random()
        packed = zlib.compress(data) if lie < 0.7 else data
        if lie < 0.03:
            size = r.choice(NUMBERS)
            d.what.append(f"sz={size}")
        elif lie < 0.05:
            size, packed = 100_000_000, zlib.compress(bytes(100_000_000), 1)
            d.what.append("bomb")
        elif lie < 0.08:
            packed = packed[:r.randrange(len(packed) + 1)]
            d.what.append("cut")
        elif lie < 0.10:
            packed += r.randbytes(9)
            d.what.append("trailing")
        d.add("sqlar", full, r.choice([0o100644] * 20 + MODES), r.choice([1] * 20 + NUMBERS), size, packed)
    return d.close()


# Streams.


def octal(n, width):
    if 0 <= n < 8 ** (width - 1):
        return f"{n:0{width - 1}o}".encode() + b"\0"
    return ((n & ((1 << (8 * width - 1)) - 1)) | (1 << (8 * width - 1))).to_bytes(width, "big")


def header(r, name, kind=b"0", size=0, link=b"", mode=0o644, mtime=1, magic=b"ustar\x0000", rest=b"", lie=True):
    raw = name if isinstance(name, bytes) else os.fsencode(name)
    size_field = octal(size, 12)
    if lie and r.random() < 0.015:
        size_field = r.choice([b"77777777777\0", b"\xff" * 12, b"\x80" + b"\xff" * 11, b"-0000000001\0", b"99999999999\0", b"\0" * 12, b"           \0", octal(1 << 40, 12), octal(size + 1, 12)])
    block = bytearray(raw[:100].ljust(100, b"\0") + octal(mode, 8) + octal(r.choice([7] * 30 + [1 << 31, -1, 1 << 50]), 8) + octal(8, 8) + size_field
                      + octal(mtime, 12) + b" " * 8 + kind + link[:100].ljust(100, b"\0") + magic + b"u".ljust(32, b"\0") + b"g".ljust(32, b"\0")
                      + octal(r.choice([0] * 30 + NUMBERS), 8) + octal(0, 8))
    block = (block + rest).ljust(512, b"\0")[:512]
    block = bytearray(block)
    block[148:156] = b"%06o\0 " % (sum(block) if not (lie and r.random() < 0.004) else 1)
    return bytes(block)


def padded(data):
    return data + bytes(-len(data) % 512)


def record(key, value):
    body = b" " + key + b"=" + value + b"\n"
    n = len(body)
    while len(str(n)) + len(body) != n:
        n = len(str(n)) + len(body)
    return str(n).encode() + body


def pax(r, what):
    """A PAX header, often with a lie."""
    keys = [b"path", b"linkpath", b"size", b"mtime", b"uid", b"SCHILY.xattr.user.a", b"SCHILY.xattr.trusted.overlay.opaque", b"GNU.sparse.major", b"GNU.sparse.minor",
            b"GNU.sparse.name", b"GNU.sparse.realsize", b"GNU.sparse.size", b"GNU.sparse.map", b"GNU.sparse.numblocks", b"GNU.sparse.offset", b"hdrcharset", b"", b"atime"]
    body = b""
    for _ in range(r.choice([1, 1, 2, 5])):
        key = r.choice(keys)
        value = os.fsencode(names(r)) if r.random() < 0.5 else str(r.choice(NUMBERS + ["1.5", "1,2,3", "0,5,9,1", "-1.999999999", "nan"])).encode()
        body += record(key, value) if r.random() < 0.9 else r.choice([b"9999999 a=b\n", b"3 a\n", b"-5 path=x\n", b"12 path=abc", b"0 \n", b"99 path"])
        what.append("pax " + key.decode()[:20])
    kind = r.choice([b"x", b"x", b"x", b"g"])
    return header(r, "PaxHeaders/x", kind, len(body), lie=False) + padded(body)


def tar(r, path):
    out, what, at = io.BytesIO(), [], {1: ""}
    for n, parent, name, kind in tree(r)[1:]:
        at[n] = full = at.get(parent, "") + name
        k = r.random()
        if k < 0.03:
            full = names(r)
            what.append(f"name {full[:12]!r}")
        if k > 0.94:
            out.write(pax(r, what))
        elif k > 0.92:
            long = os.fsencode(names(r)) + b"\0"
            out.write(header(r, "././@LongLink", r.choice([b"L", b"K"]), len(long) if r.random() < 0.8 else r.choice([1 << 20, 1 << 33, 0]), lie=False) + padded(long))
            what.append("long name")
        elif k > 0.90:
            data = content(r)[:512]
            spans = b"".join(octal(r.choice(NUMBERS), 12) for _ in range(8))
            rest = octal(0, 12) + octal(0, 12) + b"\0" * 17 + spans[:96] + r.choice([b"\0", b"\1"]) + octal(r.choice(NUMBERS + [600] * 9), 12)
            out.write(header(r, full, b"S", len(data), magic=b"ustar  \0", rest=rest[24:]) + padded(data))
            what.append("old sparse")
            continue
        if k > 0.89:
            sparse = b"".join(str(r.choice(NUMBERS + [1, 2, 3] * 9)).encode() + b"\n" for _ in range(r.choice([1, 3, 5])))
            body = record(b"GNU.sparse.major", b"1") + record(b"GNU.sparse.minor", b"0") + record(b"GNU.sparse.name", os.fsencode(full)) + record(
                b"GNU.sparse.realsize", str(r.choice(NUMBERS + [1000] * 9)).encode())
            data = padded(sparse) + content(r)[:700]
            out.write(header(r, "PaxHeaders/x", b"x", len(body), lie=False) + padded(body) + header(r, full, b"0", len(data)) + padded(data))
            what.append("sparse 1.0")
            continue
        if kind == "dir":
            at[n] += "/"
            out.write(header(r, full + "/", b"5", mode=r.choice([0o755] * 9 + [0, 0o7777])))
        elif kind == "link":
            out.write(header(r, full, b"2", link=os.fsencode(names(r)) if r.random() < 0.3 else b"d/f", size=r.choice([0] * 20 + [5])))
        elif kind == "hard":
            target = r.choice(list(at.values()) + [names(r), full, "link/f"])
            out.write(header(r, full, b"1", link=os.fsencode(target), size=r.choice([0] * 20 + [512])))
        elif kind == "fifo":
            out.write(header(r, full, r.choice([b"6", b"3", b"4", b"7", b"V", b"D", b"M", b"N", b"A", b"\0", b"\xff"]), mode=r.choice(MODES)))
        else:
            data = content(r)
            out.write(header(r, full, r.choice([b"0"] * 9 + [b"\0"]), len(data), mtime=r.choice([1] * 20 + NUMBERS)) + (padded(data) if r.random() > 0.01 else data))
    if r.random() > 0.05:
        out.write(bytes(1024))
    if r.random() < 0.05:
        out.write(r.choice([b"trailing", bytes(100_000), out.getvalue()]))
        what.append("trailing")
    raw = out.getvalue()
    k = r.random()
    if k < 0.2:
        raw = gzip.compress(raw, 1)
        if r.random() < 0.1:
            raw = r.choice([raw + raw, raw[:-8] + bytes(8), raw + b"junk", raw[:-1]])
            what.append("gzip")
    elif k < 0.25:
        raw = bz2.compress(raw, 1)
    elif k < 0.252:
        raw = gzip.compress(header(r, "bomb", b"0", 200_000_000, lie=False) + bytes(200_000_000 + 1024 + 512), 1)
        what.append("bomb")
    with open(path, "wb") as f:
        f.write(raw)
    return what


def zipped(r, path):
    out, central, what, at = io.BytesIO(), [], [], {1: ""}
    for n, parent, name, kind in tree(r)[1:]:
        at[n] = full = at.get(parent, "") + name
        if r.random() < 0.03:
            full = names(r)
            what.append(f"name {full[:12]!r}")
        if kind == "dir":
            at[n] += "/"
            full += "/"
        data = b"" if kind == "dir" else os.fsencode(names(r)) if kind == "link" else content(r)
        method = r.choice([0, 8, 8])
        packed = zlib.compress(data, 1, wbits=-15) if method == 8 else data
        crc, size, csize, extra, flags, offset = zlib.crc32(data), len(data), len(packed), b"", 0x800 * r.choice([0, 1]), out.tell()
        lie = r.random()
        if lie < 0.02:
            size = r.choice(NUMBERS) & 0xFFFFFFFF
        elif lie < 0.03:
            csize = r.choice(NUMBERS) & 0xFFFFFFFF
        elif lie < 0.04:
            crc ^= 1
        elif lie < 0.05:
            method = r.choice([1, 9, 12, 14, 93, 95, 99, 65535])
        elif lie < 0.06:
            flags |= r.choice([1, 64, 8, 0x2000, 0xFFFF])
        elif lie < 0.08:
            extra = struct.pack("<HH", 1, 24) + b"".join(struct.pack("<Q", r.choice(NUMBERS) & ((1 << 64) - 1)) for _ in range(3))
            size = csize = 0xFFFFFFFF
        elif lie < 0.10:
            extra = struct.pack("<HH", r.choice([1, 0x5455, 0x7875, 0x756E, 0x000A, 0x7075, 0xF01D]), r.choice([0, 4, 5, 9, 24, 65535])) + r.randbytes(r.choice([0, 3, 9, 24]))
        elif lie < 0.12 and central:
            offset = r.choice([0, 1, out.tell() - 5, 1 << 31])
        elif lie < 0.13:
            size, packed = 90_000_000, zlib.compress(bytes(90_000_000), 1, wbits=-15)
            crc, csize, method = zlib.crc32(bytes(90_000_000)), len(packed), 8
        if 0.02 <= lie < 0.13 or lie < 0.02:
            what.append(f"zip {lie:.3f}")
        raw = os.fsencode(full)[:65535]
        local = raw if r.random() > 0.01 else b"other"
        out.write(struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, flags & 0xFFFF, method, 0, 0x21, crc, csize & 0xFFFFFFFF, size & 0xFFFFFFFF, len(local), len(extra)) + local + extra + packed)
        mode = {"dir": 0o40755, "link": 0o120777, "fifo": r.choice(MODES)}.get(kind, 0o100644)
        entry = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, r.choice([0x314, 0x314, 0x14, 0xB14, 0xA14]), 20, flags & 0xFFFF, method, r.choice([0, 0xFFFF]), 0x21, crc,
                            csize & 0xFFFFFFFF, size & 0xFFFFFFFF, len(raw), len(extra), 0, 0, 0, (mode << 16) & 0xFFFFFFFF, offset & 0xFFFFFFFF) + raw + extra
        central.append(entry)
        if r.random() < 0.01:
            central.append(entry)
            what.append("twice")
    start, body = out.tell(), b"".join(central)
    count, comment, size, k = len(central), b"", len(body), r.random()
    out.write(body)
    if k < 0.03:
        out.write(struct.pack("<IQHHIIQQQQ", 0x06064B50, r.choice([44, 0, 1 << 62]), 45, 45, 0, 0, *(r.choice([count, size, start] + NUMBERS) & ((1 << 64) - 1) for _ in range(4))))
        out.write(struct.pack("<IIQI", 0x07064B50, 0, r.choice([start + size, 0, (1 << 63) - 1]), 1))
        count, size, start = 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF
        what.append("zip64")
    elif k < 0.06:
        count, size, start = r.choice([(0, size, start), (65535, size, start), (count, 0, start), (count, size, 0), (count, size, start + 7), (count, 0xFFFFFFF0, start)])
        what.append("end")
    elif k < 0.08:
        comment = r.choice([b"PK\x05\x06" + bytes(18), b"c" * 65535])
    out.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count & 0xFFFF, count & 0xFFFF, size & 0xFFFFFFFF, start & 0xFFFFFFFF, len(comment)) + comment)
    with open(path, "wb") as f:
        f.write(out.getvalue())
    return what


def damage(r, raw):
    """Cuts, flips, moves and repeats bytes of a file."""
    raw, what = bytearray(raw), []
    for _ in range(r.choice([1, 1, 2, 4])):
        if not raw:
            break
        kind, i = r.randrange(6), r.randrange(len(raw))
        if r.random() < 0.4:  # headers are near the beginning of a page, and at both ends
            i = min(len(raw) - 1, r.choice([0, len(raw) - 100 if len(raw) > 100 else 0, 4096 * r.randrange(len(raw) // 4096 + 1)]) + r.randrange(100))
        if kind == 0:
            del raw[i:]
        elif kind == 1:
            raw[i] ^= 1 << r.randrange(8)
        elif kind == 2:
            raw[i:i + 4] = r.choice([b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", r.randbytes(4)])
        elif kind == 3:
            j = r.randrange(len(raw))
            raw[i:i + 512] = raw[j:j + 512]
        elif kind == 4:
            raw[i:i] = raw[i:i + r.choice([1, 512, 4096])]
        else:
            del raw[i:i + r.choice([1, 512, 4096])]
        what.append(["cut", "flip", "word", "copy", "repeat", "drop"][kind])
    return bytes(raw), what


KINDS = {"sqlar": sqlar, "tar": tar, "zip": zipped}


def generate(number, directory, seeds):
    r = random.Random(number)
    if seeds and r.random() < 0.3:
        seed = r.choice(seeds)
        kind = os.path.basename(seed)
        path = os.path.join(directory, f"{number}.{kind.split('.')[-1]}")
        with open(seed, "rb") as f:
            raw, what = damage(r, f.read())
    else:
        kind = r.choice(sorted(KINDS))
        path = os.path.join(directory, f"{number}.{kind}")
        what = KINDS[kind](r, path)
        if r.random() > 0.15:
            print(os.path.basename(path), kind, "; ".join(what) or "sound", sep="\t")
            return
        with open(path, "rb") as f:
            raw, more = damage(r, f.read())
        what += more
    with open(path, "wb") as f:
        f.write(raw)
    print(os.path.basename(path), kind, "; ".join(what), sep="\t")


def main():
    global CANARY
    first, count, directory, CANARY = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    for number in range(first, first + count):
        generate(number, directory, sys.argv[5:])


sys.stdout.reconfigure(errors="backslashreplace")
main()
