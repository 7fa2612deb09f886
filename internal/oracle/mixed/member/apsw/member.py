"""Member apsw takes part with C SQLite through Python. The protocol is that of package member."""

import argparse
import random
import sys
import threading
import time

import apsw

TOTAL, ACCOUNTS, NOTES = 64 * 1000, 64, 24
BUSY = (apsw.BusyError, apsw.LockedError, apsw.SchemaChangeError, getattr(apsw, "ProtocolError", apsw.BusyError))

out = threading.Lock()


def say(line):
    with out:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def fail(text):
    import os

    say("! " + " ".join(text.split()))
    os._exit(3)


def body(writer, seq):
    n = 1 + (seq * 7 + writer * 3) % 40
    if (seq + writer) % 16 == 0:
        n += 500
    return f"{writer}:{seq};" * n


class Member:
    def __init__(self, args):
        self.path, self.all, self.readers = args.db, args.all, args.readers
        self.random = random.Random(args.seed * 1000 + args.first)
        floors = [int(f) for f in args.floors.split(",")]
        self.writers = [{"id": args.first + i, "last": f, "unknown": True} for i, f in enumerate(floors)]
        self.stop = threading.Event()
        self.busy = self.looks = 0

    def settings(self):
        r = self.random
        return {"sync": r.choice(["OFF", "NORMAL", "FULL", "EXTRA"]), "journal": r.choice(["DELETE", "TRUNCATE", "PERSIST"]), "seed": r.random()}

    def connect(self, s):
        r = random.Random(s["seed"])
        c = apsw.Connection(self.path)
        try:
            c.set_busy_timeout(r.choice([0, 20, 1000, 5000]))
            list(c.execute("PRAGMA synchronous = " + s["sync"]))
            list(c.execute(f"PRAGMA cache_size = {r.choice([2000, 5])}"))
            list(c.execute(f"PRAGMA wal_autocheckpoint = {r.choice([1000, 100, 10, 0])}"))
            if c.pragma("journal_mode") != "wal":
                list(c.execute("PRAGMA journal_mode = " + s["journal"]))
        except BaseException:
            c.close()
            raise
        return c

    def open(self, s):
        while not self.stop.is_set():
            try:
                return self.connect(s)
            except BUSY:
                self.busy += 1
        return None

    def session(self, s, fn, r):
        try:
            c = self.open(s)
            if c is None:
                return
            while not self.stop.is_set():
                try:
                    fn(c, r)
                except BUSY:
                    self.busy += 1
                    time.sleep(r.random() / 500)
            c.close()
        except BaseException as e:
            fail(f"{fn}: {type(e).__name__}: {e}")

    def within(self, c, begin, fn):
        c.execute(begin)
        try:
            if fn():
                c.execute("COMMIT")
        finally:
            if c.in_transaction:
                c.execute("ROLLBACK")

    def transfer(self, c, r, w):
        seq, undo, amount = w["last"] + 1, r.random() < 1 / 16, r.randrange(50)
        source, target = r.randint(1, ACCOUNTS), r.randint(1, ACCOUNTS)
        found = None

        def do():
            nonlocal found
            found = c.execute("SELECT seq FROM writer WHERE id = ?", (w["id"],)).get
            if found != w["last"]:
                return False
            c.execute("UPDATE account SET balance = balance - ? WHERE id = ?", (amount, source))
            c.execute("UPDATE account SET balance = balance + ? WHERE id = ?", (amount, target))
            c.execute("UPDATE writer SET seq = ? WHERE id = ?", (seq, w["id"]))
            c.execute("INSERT INTO note(writer, seq, body) VALUES (?, ?, ?)", (w["id"], seq, body(w["id"], seq)))
            c.execute("DELETE FROM note WHERE writer = ? AND seq = ?", (w["id"], seq - NOTES))
            if r.random() < 1 / 100:
                time.sleep(r.random() / 50)
            return not undo

        self.within(c, "BEGIN IMMEDIATE", do)
        if found != w["last"]:
            if not w["unknown"] or found != w["last"] + 1:
                fail(f"writer {w['id']} finds {found} after it was told that {w['last']} is committed")
            w["last"], w["unknown"] = found, False
            say(f"a {w['id']} {found}")
            return
        w["unknown"] = False
        if not undo:
            w["last"] = seq
            say(f"a {w['id']} {seq}")

    def look(self, c, r, before):
        def wrong():
            for query in ("NOT INDEXED", "INDEXED BY by_balance"):
                total = c.execute("SELECT sum(balance) FROM account " + query).get
                if total != TOTAL:
                    return f"the sum is {total} {query}"
            numbers = [n for (n,) in c.execute("SELECT seq FROM writer ORDER BY id")]
            for i, b in enumerate(before):
                if numbers[i] < b:
                    return f"writer {i} was at {b} and is at {numbers[i]}"
            if r.random() < 1 / 4:
                time.sleep(r.random() * 0.03)
            writer = r.randrange(self.all)
            notes = list(c.execute("SELECT seq, body FROM note WHERE writer = ? ORDER BY seq", (writer,)))
            last = numbers[writer]
            want = [(n, body(writer, n)) for n in range(max(1, last - NOTES + 1), last + 1)]
            if notes != want:
                return f"writer {writer} is at {last} and has {len(notes)} notes"
            if numbers != [n for (n,) in c.execute("SELECT seq FROM writer ORDER BY id")]:
                return "the numbers changed in a snapshot"
            before[:] = numbers
            return None

        def do():
            what = wrong()
            if what:
                fail("a snapshot is wrong: " + what)
            return True

        self.within(c, "BEGIN", do)
        self.looks += 1
        time.sleep(r.random() / 250)

    def chore(self, c, r):
        time.sleep(r.random() / 20)
        self.tell()
        name = r.choice(["PASSIVE", "FULL", "RESTART", "TRUNCATE", "VACUUM"])
        list(c.execute("VACUUM" if name == "VACUUM" else f"PRAGMA wal_checkpoint({name})"))
        say("k " + name)

    def tell(self):
        if self.busy:
            say(f"b {self.busy}")
        if self.looks:
            say(f"r {self.looks}")
        self.busy = self.looks = 0

    def live(self):
        s, threads = self.settings(), []

        def start(fn):
            r, own = random.Random(self.random.random()), dict(s, seed=self.random.random())
            threads.append(threading.Thread(target=self.session, args=(own, fn, r), daemon=True))
            threads[-1].start()

        for w in self.writers:
            start(lambda c, r, w=w: self.transfer(c, r, w))
        for _ in range(self.readers):
            start(lambda c, r, before=[]: self.look(c, r, before))
        start(self.chore)
        return threads

    def change(self, mode):
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline:
            try:
                c = self.connect(self.settings())
            except BUSY:
                self.busy += 1
                continue
            try:
                now = c.execute("PRAGMA journal_mode = " + mode).get
            except BUSY:
                now = None
            c.close()
            if now == mode.lower():
                say("m " + mode)
                return
            self.busy += 1

    def run(self):
        command, arrived = [], threading.Event()

        def listen():
            for line in sys.stdin:
                command.append(line.strip())
                arrived.set()
            command.append(None)
            arrived.set()

        threading.Thread(target=listen, daemon=True).start()
        while True:
            self.stop.clear()
            threads = self.live()
            arrived.wait(0.1 + self.random.random() * 3)
            self.stop.set()
            for t in threads:
                t.join()
            self.tell()
            arrived.clear()
            while command:
                line = command.pop(0)
                if line is None:
                    return
                if line.startswith("switch "):
                    self.change(line.removeprefix("switch "))
                elif line == "reopen":
                    time.sleep(self.random.random() * 0.4)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("-db")
    p.add_argument("-first", type=int)
    p.add_argument("-floors")
    p.add_argument("-readers", type=int)
    p.add_argument("-all", type=int)
    p.add_argument("-switch", default="")
    p.add_argument("-seed", type=int)
    args = p.parse_args()
    member = Member(args)
    if args.switch:
        member.change(args.switch)
    member.run()
