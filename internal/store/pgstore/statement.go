package pgstore

import (
	"encoding/binary"
	"strings"
)

// A statement is one of SQL that is prepared once for each connection.
type statement int

const (
	beginRead statement = iota
	beginWrite
	lockVolume
	commit
	rollback
	selectVersion
	selectWalk
	selectWalkXattrs
	selectPath
	selectPathContent
	selectNode
	selectEntry
	selectEntries
	selectXattrs
	selectXattrRange
	selectPart
	selectChunks
	selectParts
	selectFiles
	selectBranch
	selectLengths
	selectNextChunk
	selectDataSize
	nextNumbers
	apply
	cloneContent
	setHashJoin
	cloneTree
	putObjects
	putParts
	deleteChunks
	putXattr
	deleteXattr
	insertChange
	notify
	countListeners
	addSession
	touchSession
	expireSessions
	removeSession
	countSessions
	selectWaiting
	stopWaiting
	selectDead
	selectDeadOf
	removeNodes
	removeXattrs
	removeOrphans
	forgetChanges
	selectBucket
	setBucket
	sweepObjects
	selectSwept
	markGone
	forgetObjects
	claimObjects
	countObjects
	numStatements
)

// partColumns are those of a data row that is a part of an object, as partOf takes them.
const partColumns = "object, at::bigint, length::bigint, sum::bigint"

// versionColumn is the version of the volume. Each lane takes one look at its index.
const versionColumn = `(SELECT sum((SELECT number FROM @version AS v WHERE v.lane = lanes.lane ORDER BY number DESC LIMIT 1))::bigint FROM (VALUES (1), (2), (3), (4)) AS lanes(lane))`

// versionIfWanted is NULL unless the statement is to tell the version, which takes time.
const versionIfWanted = "CASE WHEN $5 THEN " + versionColumn + " END"

const nodeColumns = "mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev"

// walkRows are the rows of a walk, as newWalk gives its parameters. walkText reads their inodes,
// and more columns in place of /*more*/. walkXattrs reads the extended attributes where paths end.
const (
	walkRows = `WITH RECURSIVE walk(i, parent, ino, type) AS (
  SELECT i, 0::bigint, top, 2::bigint FROM unnest($1::bigint[]) WITH ORDINALITY AS t(top, i)
  UNION ALL
  SELECT c, w.ino, e.ino, e.type
  FROM walk AS w CROSS JOIN LATERAL generate_series(($2::bigint[])[w.i], ($3::bigint[])[w.i]) AS c
    CROSS JOIN LATERAL (SELECT ino, type FROM @entry WHERE parent = w.ino AND name = ($4::bytea[])[c] OFFSET 0) AS e
)
`
	walkText = walkRows + `SELECT w.i, w.parent, w.ino, w.type, n.ino, n.mode, n.nlink, n.uid, n.gid, n.size, n.holes, n.mtime_ns, n.ctime_ns, n.atime_ns, n.rdev/*more*/
FROM walk AS w LEFT JOIN @node AS n ON n.ino = w.ino`
	walkXattrs = walkRows + `SELECT w.ino, x.name, substring(x.value FOR 65537)
FROM (SELECT DISTINCT ino FROM walk WHERE ($3::bigint[])[i] < ($2::bigint[])[i]) AS w
  CROSS JOIN LATERAL (SELECT name, value FROM @xattr AS x WHERE x.ino = w.ino ORDER BY name OFFSET 0) AS x`
)

// contentOf is the content of a file or a symbolic link, if that is one row. A part of an object is
// none.
const contentOf = "CASE WHEN n.mode & 61440 IN (32768, 40960) AND n.holes = 0 AND n.size BETWEEN 1 AND 65536 THEN (SELECT substring(d.bytes FOR 65536) FROM @data AS d WHERE d.id = n.ino << 28) END"

// with returns a text with more columns.
func with(text string, columns ...string) string {
	return strings.Replace(text, "/*more*/", ", "+strings.Join(columns, ", "), 1)
}

// texts are the statements, with @ in place of the schema and a dot.
var texts = [numStatements]string{
	beginRead:  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
	beginWrite: "BEGIN ISOLATION LEVEL READ COMMITTED", // a server that was set to read only stays so,
	// A server ends the transaction of a client that hangs, so that others can write.
	lockVolume:        "SELECT set_config('idle_in_transaction_session_timeout', '60s', true) FROM pg_advisory_xact_lock($1)",
	commit:            "COMMIT",
	rollback:          "ROLLBACK",
	selectVersion:     "SELECT " + versionColumn,
	selectWalk:        walkText,
	selectWalkXattrs:  walkXattrs,
	selectPath:        with(walkText, versionIfWanted),
	selectPathContent: with(walkText, versionIfWanted, "CASE WHEN w.i = cardinality($4::bytea[]) THEN "+contentOf+" END"),
	selectNode:        "SELECT ino, " + nodeColumns + " FROM @node WHERE ino = $1",
	selectEntry:       "SELECT ino, type FROM @entry WHERE parent = $1 AND name = $2",
	selectEntries:     "SELECT e.name, e.ino, e.type, n.ino, n.mode, n.nlink, n.uid, n.gid, n.size, n.holes, n.mtime_ns, n.ctime_ns, n.atime_ns, n.rdev FROM @entry AS e LEFT JOIN @node AS n ON n.ino = e.ino WHERE e.parent = $1 AND e.name > $2 ORDER BY e.name LIMIT $3",
	selectXattrRange:  "SELECT ino, name, substring(value FOR 65537) FROM @xattr WHERE ino >= $1 ORDER BY ino, name LIMIT $2",
	selectXattrs:      "SELECT name, substring(value FOR 65537) FROM @xattr WHERE ino = $1 ORDER BY name",
	selectPart:        "SELECT substring(bytes FROM $2 FOR $3), " + partColumns + " FROM @data WHERE id = $1",
	selectChunks:      "SELECT id, substring(bytes FOR 65536), " + partColumns + " FROM @data WHERE id BETWEEN $1 AND $2 ORDER BY id",
	selectParts:       "SELECT id, " + partColumns + " FROM @data WHERE id BETWEEN $1 AND $2 AND object IS NOT NULL ORDER BY id",
	selectFiles:       "SELECT id, substring(bytes FOR 65536) FROM @data WHERE id = ANY($1::bigint[])",
	selectBranch: `WITH list AS MATERIALIZED (
  SELECT d.i, d.dir, e.name, e.ino, e.type
  FROM unnest($1::bigint[]) WITH ORDINALITY AS d(dir, i)
    LEFT JOIN LATERAL (SELECT name, ino, type FROM @entry WHERE parent = d.dir ORDER BY name LIMIT $2) AS e ON true
  ORDER BY d.i, e.name LIMIT $3
), files AS MATERIALIZED (
  SELECT l.*, n.mode, n.nlink, n.uid, n.gid, n.size, n.holes, n.mtime_ns, n.ctime_ns, n.atime_ns, n.rdev,
    CASE WHEN l.type = 1 AND n.size BETWEEN 1 AND 65536 AND n.holes = 0 THEN n.size::int END AS small
  FROM list AS l LEFT JOIN @node AS n ON n.ino = l.ino
), sums AS MATERIALIZED (
  SELECT f.*, sum(f.small) OVER (ORDER BY f.i, f.name) AS bytes, sum(f.small) OVER (ORDER BY f.i) AS bytes_of_dirs FROM files AS f
)
SELECT s.dir, s.name, s.ino, s.type, s.mode, s.nlink, s.uid, s.gid, s.size, s.holes, s.mtime_ns, s.ctime_ns, s.atime_ns, s.rdev,
  CASE WHEN s.small > 0 AND s.bytes <= $4 THEN (SELECT substring(d.bytes FOR 65536) FROM @data AS d WHERE d.id = s.ino << 28) END
FROM sums AS s WHERE s.i = 1 OR coalesce(s.bytes_of_dirs, 0) <= $4 ORDER BY s.i, s.name`,
	selectLengths:   "SELECT id, coalesce(length, octet_length(bytes))::bigint FROM @data WHERE id BETWEEN $1 AND $2 ORDER BY id",
	selectNextChunk: "SELECT id FROM @data WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT 1",
	selectDataSize:  "SELECT pg_total_relation_size('@data') + (SELECT coalesce(sum(size), 0)::bigint FROM @object WHERE NOT swept)",
	nextNumbers:     "SELECT nextval('@ino') FROM generate_series(1, $1::bigint)",
	apply:           "SELECT @apply($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
	cloneContent:    "INSERT INTO @data (id, bytes, object, at, length, sum) SELECT ($2::bigint << 28) + (id & 268435455), bytes, object, at, length, sum FROM @data WHERE id BETWEEN $1::bigint << 28 AND ($1::bigint << 28) + 268435455",
	setHashJoin:     "SELECT set_config('enable_hashjoin', $1, true)",
	// Numbers come in blocks of a thousand. OFFSET 0 makes the server look each inode up by its
	// key.
	cloneTree: `WITH RECURSIVE tree(parent, name, ino, type) AS (
  SELECT 0::bigint, ''::bytea, ino, CASE WHEN mode & 61440 = 16384 THEN 2 ELSE 1 END::bigint FROM @node WHERE ino = $1
  UNION
  SELECT t.ino, e.name, e.ino, e.type FROM tree AS t JOIN @entry AS e ON e.parent = t.ino WHERE t.type = 2
), inodes AS MATERIALIZED (
  SELECT ino, max(type) AS type, count(*) AS names, row_number() OVER () - 1 AS i FROM tree GROUP BY ino
), blocks AS MATERIALIZED (
  SELECT block, nextval('@ino') AS first FROM generate_series(0, (SELECT count(*) - 1 FROM inodes) / 1000) AS block
), copies AS MATERIALIZED (
  SELECT ino, first + i % 1000 AS copy, type, names FROM inodes JOIN blocks ON block = i / 1000
), nodes AS (
  INSERT INTO @node (ino, mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev)
  SELECT c.copy, n.mode, CASE WHEN c.type = 2 THEN n.nlink ELSE c.names END, n.uid, n.gid, n.size, n.holes, n.mtime_ns, $2, n.atime_ns, n.rdev
  FROM copies AS c CROSS JOIN LATERAL (SELECT * FROM @node AS n WHERE n.ino = c.ino OFFSET 0) AS n
  RETURNING 1
), entries AS (
  INSERT INTO @entry (parent, name, ino, type)
  SELECT p.copy, t.name, c.copy, t.type FROM tree AS t JOIN copies AS p ON p.ino = t.parent JOIN copies AS c ON c.ino = t.ino
), attributes AS (
  INSERT INTO @xattr (ino, name, value)
  SELECT c.copy, x.name, x.value FROM copies AS c CROSS JOIN LATERAL (SELECT * FROM @xattr AS x WHERE x.ino = c.ino OFFSET 0) AS x
), contents AS (
  INSERT INTO @data (id, bytes, object, at, length, sum)
  SELECT (c.copy << 28) + (d.id & 268435455), d.bytes, d.object, d.at, d.length, d.sum
  FROM copies AS c CROSS JOIN LATERAL (SELECT * FROM @data AS d WHERE d.id BETWEEN c.ino << 28 AND (c.ino << 28) + 268435455 OFFSET 0) AS d
)
SELECT (SELECT copy FROM copies WHERE ino = $1), (SELECT count(*) FROM copies) - (SELECT count(*) FROM nodes),
  (SELECT count(*) FROM copies WHERE type = 2 AND names > 1)`,
	putObjects: "INSERT INTO @object (name, size) SELECT * FROM unnest($1::uuid[], $2::bigint[])",
	putParts: `INSERT INTO @data (id, object, at, length, sum) SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::integer[], $4::integer[], $5::integer[])
ON CONFLICT (id) DO UPDATE SET bytes = NULL, object = excluded.object, at = excluded.at, length = excluded.length, sum = excluded.sum`,
	deleteChunks:   "DELETE FROM @data WHERE id BETWEEN $1 AND $2",
	putXattr:       "INSERT INTO @xattr (ino, name, value) VALUES ($1, $2, $3) ON CONFLICT (ino, name) DO UPDATE SET value = excluded.value",
	deleteXattr:    "DELETE FROM @xattr WHERE ino = $1 AND name = $2",
	notify:         "SELECT pg_notify($1, $2)",
	countListeners: "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND objid = $2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
	insertChange:   "INSERT INTO @version VALUES (1, " + newNumber("1") + ")",

	addSession:     "INSERT INTO @session (lease) VALUES ($1::bigint * interval '1 microsecond') RETURNING id",
	touchSession:   "UPDATE @session SET seen = clock_timestamp() WHERE id = $1",
	expireSessions: "DELETE FROM @session WHERE seen + lease < clock_timestamp()",
	removeSession:  "DELETE FROM @session WHERE id = $1",
	countSessions:  "SELECT count(*) FROM @session",
	selectWaiting:  "SELECT ino FROM @orphan WHERE $1 = ANY(waits) ORDER BY ino LIMIT $2",
	stopWaiting:    "UPDATE @orphan SET waits = array_remove(waits, $1) WHERE ino = ANY($2::bigint[]) AND $1 = ANY(waits)",
	selectDead: `SELECT o.ino, n.size - n.holes FROM @orphan AS o LEFT JOIN @node AS n ON n.ino = o.ino
WHERE NOT EXISTS (SELECT FROM @session AS s WHERE s.id = ANY(o.waits)) ORDER BY o.ino LIMIT $1`,
	selectDeadOf: `SELECT o.ino, n.size - n.holes FROM @orphan AS o LEFT JOIN @node AS n ON n.ino = o.ino
WHERE o.ino = ANY($1::bigint[]) AND NOT EXISTS (SELECT FROM @session AS s WHERE s.id = ANY(o.waits)) ORDER BY o.ino`,
	removeNodes:   "DELETE FROM @node WHERE ino = ANY($1::bigint[]) AND nlink = 0",
	removeXattrs:  "DELETE FROM @xattr WHERE ino = ANY($1::bigint[])",
	removeOrphans: "DELETE FROM @orphan WHERE ino = ANY($1::bigint[])",
	selectBucket:  "SELECT id::text, coalesce(address, '') FROM @bucket",
	setBucket:     "UPDATE @bucket SET address = $1 WHERE address IS NULL",
	// An object is swept if it was dropped long enough ago, no row names it, and no snapshot is as
	// old as the transaction that dropped it.
	sweepObjects: `WITH horizon AS (
  SELECT pg_current_xact_id()::text::bigint - greatest(
    (SELECT max(age(backend_xmin)) FROM pg_stat_activity WHERE datname = current_database() OR datname IS NULL),
    (SELECT max(age(xmin)) FROM pg_replication_slots), 0) AS xid
), listed AS (
  SELECT name, EXISTS (SELECT FROM @data AS d WHERE d.object = o.name) AS named FROM @object AS o
  WHERE dropped IS NOT NULL AND NOT swept AND since <= clock_timestamp() - $1::bigint * interval '1 microsecond' AND dropped < (SELECT xid FROM horizon)
  ORDER BY since LIMIT $2
)
UPDATE @object AS o SET swept = NOT l.named, dropped = CASE WHEN l.named THEN NULL ELSE dropped END FROM listed AS l WHERE o.name = l.name`,
	selectSwept:   "SELECT name FROM @object WHERE swept AND gone IS NULL ORDER BY name LIMIT $1",
	markGone:      "UPDATE @object SET gone = clock_timestamp() WHERE name = ANY($1::uuid[])",
	forgetObjects: "DELETE FROM @object WHERE gone < clock_timestamp() - interval '7 days'",
	// Objects of the bucket that no transaction has named become swept ones, so that none can name
	// them any more. One that was removed and has come back is removed again.
	claimObjects: `INSERT INTO @object AS o (name, size, swept) SELECT u.name, u.size, true FROM unnest($1::uuid[], $2::bigint[]) AS u(name, size)
ON CONFLICT (name) DO UPDATE SET gone = NULL WHERE o.gone IS NOT NULL`,
	countObjects: `SELECT count(*) FILTER (WHERE NOT swept), coalesce(sum(size) FILTER (WHERE NOT swept), 0)::bigint,
  count(*) FILTER (WHERE gone IS NULL AND (swept OR dropped IS NOT NULL)), coalesce(sum(size) FILTER (WHERE gone IS NULL AND (swept OR dropped IS NOT NULL)), 0)::bigint,
  (SELECT count(*) FROM @data WHERE object IS NOT NULL), (SELECT coalesce(sum(length), 0)::bigint FROM @data WHERE object IS NOT NULL)
FROM @object`,
	forgetChanges: "DELETE FROM @version AS v WHERE number < (SELECT number FROM @version WHERE lane = v.lane ORDER BY number DESC LIMIT 1)",
}

// in returns the statements of the volume in a schema.
func (schema schemaName) statements() (sql [numStatements]string) {
	for i, text := range texts {
		sql[i] = schema.in(text)
	}
	return sql
}

// in puts the schema into a statement.
func (schema schemaName) in(text string) string {
	return strings.ReplaceAll(text, "@", schema.quoted()+".")
}

// A step is a statement of a trip.
type step struct {
	statement statement
	args      []any
	row       func(v [][]byte) // takes a row, whose bytes are valid until it returns; nil if there are none
	count     *int64           // gets the number of rows that were changed; or nil
	copied    *bulk            // goes by COPY in place of a statement; only in the first step
}

// do returns a step whose result does not matter.
func do(i statement, args ...any) step { return step{statement: i, args: args} }

// number reads a bigint, 0 for NULL.
func number(v []byte) int64 {
	if len(v) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(v))
}

// numberInto returns the row function of a statement that gives one number.
func numberInto(n *int64) func(v [][]byte) { return func(v [][]byte) { *n = number(v[0]) } }

// ignore is the row function of a statement whose rows do not matter.
func ignore([][]byte) {}
