#!/usr/bin/env bash
# Makes the bytes of the golden files anew, by SQLite itself. Once made they stay; the comments beside them are ours, and
# are rewritten by: go test ./internal/format -update
#
# usage: testdata/make.sh [NAME...]
#
# It needs the sqlite3 shell and strace, and for the names that end in -be a program BE_SQLITE that takes a database
# and reads SQL and .shell lines as the shell does, but runs on a big-endian machine: SQLite built for s390x, say, and
# run by qemu. The files hold random numbers (salts, nonces), so that each run differs.
set -euo pipefail

out=$(cd "$(dirname "$0")" && pwd)
work=/tmp/golden # appears in the name of the super-journal
rm -rf "$work" && mkdir -p "$work" && cd "$work"

le() { sqlite3 -batch "$@" >/dev/null; }
be() { "${BE_SQLITE:?}" "$@" >/dev/null; }

# dump NAME FILE: od folds equal lines, which is most of a tiny database.
dump() { od -A x -t x1 "$2" >"$out/$1.golden"; }

make_header() {
	le header.db <<-'SQL'
		PRAGMA page_size=65536;
		PRAGMA encoding='UTF-16be';
		PRAGMA auto_vacuum=incremental;
		PRAGMA user_version=-2;
		PRAGMA application_id=0x466f6c69;
		PRAGMA default_cache_size=1234;
		CREATE TABLE t(x);
		.filectrl reserve_bytes 8
		VACUUM;
		INSERT INTO t VALUES(zeroblob(500000));
		DELETE FROM t;
		PRAGMA journal_mode=wal;
		PRAGMA wal_checkpoint;
	SQL
	head -c 100 header.db >header
	dump header header
}

make_tree() {
	le tree.db <<-'SQL'
		PRAGMA page_size=512;
		CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<32)
			INSERT INTO t SELECT i*i, printf('name %03d of %d', i*23%32, 32) FROM n;
		DELETE FROM t WHERE id IN (4, 9, 36, 900);
		UPDATE t SET name = 'n' WHERE id = 100;
	SQL
	dump tree tree.db
}

make_records() {
	le records.db <<-'SQL'
		PRAGMA page_size=1024;
		CREATE TABLE r(a, b, c, d, e);
		INSERT INTO r VALUES(NULL, 0, 1, 2, -1);
		INSERT INTO r VALUES(127, -128, 128, -32768, 32767);
		INSERT INTO r VALUES(32768, -8388608, 8388607, 8388608, -2147483648);
		INSERT INTO r VALUES(2147483647, 2147483648, -140737488355328, 140737488355327, 140737488355328);
		INSERT INTO r VALUES(9223372036854775807, -9223372036854775807-1, 0.1, -1.5e300, 9e999);
		INSERT INTO r VALUES('', 'text', x'', x'00ff', 'zwölf Boxkämpfer');
		INSERT INTO r VALUES(printf('%.57c', 'a'), printf('%.58c', 'b'), CAST(printf('%.58c', 'c') AS BLOB), 2.0, 3);
		INSERT INTO r(rowid, a) VALUES(-1, 'a negative rowid');
		INSERT INTO r(rowid, a) VALUES(9223372036854775807, 'the last rowid');
		ALTER TABLE r ADD COLUMN f DEFAULT 'added';
		INSERT INTO r(rowid, f) VALUES(300, 'set');
	SQL
	dump records records.db
}

make_wide() { # a record whose header's length takes two bytes
	le wide.db "PRAGMA page_size=2048; CREATE TABLE w($(seq -s, -f 'c%g' 130)); INSERT INTO w(c1, c130) VALUES(1, 'last');"
	dump wide wide.db
}

make_overflow() { # payloads of 512-byte pages to either side of each threshold
	{
		echo 'PRAGMA page_size=512; CREATE TABLE t(x); CREATE TABLE w(k BLOB PRIMARY KEY) WITHOUT ROWID;'
		for n in 477 478 547 548 985 986; do
			echo "INSERT INTO t VALUES(CAST(printf('%.$((n - 3))c', 't') AS BLOB));"
		done
		for n in 102 103 547 548 610 611; do
			echo "INSERT INTO w VALUES(CAST(printf('%.$((n - 3))c', char(97+$n%26)) AS BLOB));"
		done
	} | le overflow.db
	dump overflow overflow.db
}

make_freelist() { # two trunks: the last holds 120 leaves
	le freelist.db <<-'SQL'
		PRAGMA page_size=512;
		PRAGMA secure_delete=on;
		CREATE TABLE t(x);
		CREATE TABLE u(x);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<126) INSERT INTO t SELECT zeroblob(400) FROM n;
		DROP TABLE t;
	SQL
	dump freelist freelist.db
}

make_ptrmap() {
	le ptrmap.db <<-'SQL'
		PRAGMA page_size=512;
		PRAGMA auto_vacuum=incremental;
		PRAGMA secure_delete=on;
		CREATE TABLE t(id INTEGER PRIMARY KEY, x);
		CREATE TABLE gone(x);
		INSERT INTO gone VALUES(zeroblob(1500));
		INSERT INTO t VALUES(1, zeroblob(1800)), (2, zeroblob(400)), (3, zeroblob(400));
		DELETE FROM gone;
	SQL
	dump ptrmap ptrmap.db
}

# The log began anew after a checkpoint: frames of the first round lie behind those of the second.
make_wal_of() {
	"$1" "wal-$1.db" <<-SQL
		PRAGMA page_size=512;
		PRAGMA journal_mode=wal;
		PRAGMA wal_autocheckpoint=0;
		CREATE TABLE t(x);
		INSERT INTO t VALUES(1);
		INSERT INTO t VALUES(2);
		INSERT INTO t VALUES(3);
		INSERT INTO t VALUES(4);
		PRAGMA wal_checkpoint=RESTART;
		INSERT INTO t VALUES('two');
		BEGIN;
		INSERT INTO t VALUES(zeroblob(600));
		COMMIT;
		.shell cp wal-$1.db-wal log-$1
		.shell cp wal-$1.db-shm index-$1
	SQL
}

make_wal() { make_wal_of le && dump wal log-le && dump walindex index-le; }
make_wal-be() { make_wal_of be && dump wal-be log-be && dump walindex-be index-be; }

# A cache of one page writes dirty pages early, each time with a new segment of the journal.
make_journal() {
	le journal.db <<-'SQL'
		PRAGMA page_size=512;
		CREATE TABLE t(id INTEGER PRIMARY KEY, x);
		INSERT INTO t VALUES(1, printf('%.300c', 'a')), (2, printf('%.300c', 'b')), (3, printf('%.300c', 'c'));
		PRAGMA cache_size=1;
		BEGIN;
		UPDATE t SET x = printf('%.300c', 'x');
		.shell cp journal.db-journal log
	SQL
	dump journal log
}

# A transaction over two databases is committed by unlinking its super-journal. Killed there, it leaves the journals
# that name it.
make_super_of() {
	rm -rf é && mkdir é && cd é
	for db in super.db other.db; do
		"$1" $db <<<'PRAGMA page_size=512; CREATE TABLE t(x);'
	done
	strace -f -qq -o /dev/null -e inject=unlink,unlinkat:signal=KILL:when=1 "${@:2}" super.db <<-'SQL' || true
		ATTACH 'other.db' AS other;
		BEGIN;
		INSERT INTO t VALUES(1);
		INSERT INTO other.t VALUES(1);
		COMMIT;
	SQL
	cd ..
}

make_super() { make_super_of le sqlite3 -batch && dump super é/super.db-journal; }
make_super-be() { make_super_of be "${BE_SQLITE:?}" && dump super-be é/super.db-journal; }

for name in "${@:-header tree records wide overflow freelist ptrmap wal journal super}"; do
	for n in $name; do "make_$n"; done
done
