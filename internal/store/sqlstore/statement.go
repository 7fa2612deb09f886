package sqlstore

import (
	"strconv"

	"github.com/foliofs/folio/internal/store"
)

// A statement names a prepared statement. A connection prepares it at its first use, and keeps it.
type statement int

const (
	begin statement = iota
	beginImmediate
	commit
	rollback
	dataVersion
	userVersion
	selectNode
	selectSize
	selectEntry
	selectEntries
	selectPart
	selectChunk
	selectChunks
	selectXattrs
	selectOrphan
	selectLast
	selectUsed
	insertNode
	updateNode
	deleteNode
	selectDead
	putOrphan
	deleteOrphan
	selectOrphans
	unmarkOrphans
	putEntry
	deleteEntry
	selectLength
	selectLengths
	sumChunks
	insertChunk
	putChunk
	cutChunk
	deleteChunks
	putXattr
	deleteXattr
	deleteXattrs
	ownChunks
	shareLess
	shareNothing
	touch
	present
	probe
	numStatements
)

// shapes are queries that fail where a table that is read lacks a column.
var shapes = [...]string{
	`SELECT ino, mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev FROM node LIMIT 0`,
	`SELECT parent, name, ino, type FROM entry LIMIT 0`,
	`SELECT id, bytes FROM data LIMIT 0`,
	`SELECT ino, name, value FROM xattr LIMIT 0`,
	`SELECT ino FROM orphan LIMIT 0`,
}

// lengthOfBytes is how many bytes a data row holds, which of a BLOB can be told without reading it.
const lengthOfBytes = `CASE typeof(bytes) WHEN 'blob' THEN length(bytes) WHEN 'text' THEN length(CAST(bytes AS BLOB)) ELSE 0 END`

// No statement replaces a row. So the values in columns that other programs have added stay.
var statements = [numStatements]string{
	begin:          `BEGIN`,
	beginImmediate: `BEGIN IMMEDIATE`,
	commit:         `COMMIT`,
	rollback:       `ROLLBACK`,
	dataVersion:    `PRAGMA data_version`,
	userVersion:    `PRAGMA user_version`,

	selectNode: `SELECT mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev FROM node WHERE ino = ?`,
	selectSize: `SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`,
	insertNode: `INSERT INTO node (mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev, ino)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	updateNode: `UPDATE node SET mode = ?, nlink = ?, uid = ?, gid = ?, size = ?, holes = ?, mtime_ns = ?, ctime_ns = ?, atime_ns = ?, rdev = ?
		WHERE ino = ?`,
	deleteNode: `DELETE FROM node WHERE ino = ?`,
	selectLast: `SELECT max(coalesce((SELECT max(ino) FROM node WHERE ino <= ?1), 0), coalesce((SELECT max(ino) FROM orphan WHERE ino <= ?1), 0))`,
	selectUsed: `SELECT EXISTS (SELECT 1 FROM node WHERE ino = ?1) OR EXISTS (SELECT 1 FROM orphan WHERE ino = ?1)`,

	selectOrphan: `SELECT 1 FROM orphan WHERE ino = ?`,
	selectDead:   `SELECT 1 FROM orphan JOIN node ON node.ino = orphan.ino WHERE orphan.ino = ? AND node.nlink = 0`,
	deleteOrphan: `DELETE FROM orphan WHERE ino = ?`,
	putOrphan:    `INSERT INTO orphan (ino) VALUES (?) ON CONFLICT (ino) DO UPDATE SET ino = excluded.ino`,
	selectOrphans: `SELECT orphan.ino FROM orphan JOIN node ON node.ino = orphan.ino
		WHERE orphan.ino > ? AND node.nlink = 0 ORDER BY orphan.ino LIMIT ?`,
	unmarkOrphans: `DELETE FROM orphan WHERE ino <> ? AND NOT EXISTS (SELECT 1 FROM node WHERE node.ino = orphan.ino)`,

	selectEntry: `SELECT ino, type FROM entry WHERE parent = ? AND name = ?`,
	// A name that is not text cannot be looked up. It gets a type that does not exist.
	selectEntries: `SELECT substr(CAST(name AS BLOB), 1, ` + strconv.Itoa(store.MaxName+1) + `), ino, type * (typeof(name) = 'text') FROM entry WHERE parent = ? AND name > ? ORDER BY name LIMIT ?`,
	putEntry: `INSERT INTO entry (parent, name, ino, type) VALUES (?, ?, ?, ?)
		ON CONFLICT (parent, name) DO UPDATE SET ino = excluded.ino, type = excluded.type`,
	deleteEntry: `DELETE FROM entry WHERE parent = ? AND name = ?`,

	// The bytes may be a text, of which SQL would count characters.
	selectPart:    `SELECT substr(CAST(bytes AS BLOB), ?, ?) FROM data WHERE id = ?`,
	selectChunk:   `SELECT substr(CAST(bytes AS BLOB), 1, ` + strconv.Itoa(store.ChunkSize+1) + `) FROM data WHERE id = ?`,
	selectChunks:  `SELECT id, substr(CAST(bytes AS BLOB), 1, ` + strconv.Itoa(store.ChunkSize) + `) FROM data WHERE id BETWEEN ? AND ? ORDER BY id`,
	selectLength:  `SELECT ` + lengthOfBytes + ` FROM data WHERE id = ?`,
	selectLengths: `SELECT id, ` + lengthOfBytes + ` FROM data WHERE id BETWEEN ? AND ? ORDER BY id`,
	sumChunks:     `SELECT coalesce(sum(` + lengthOfBytes + `), 0) FROM data WHERE id BETWEEN ? AND ?`,
	insertChunk:   `INSERT INTO data (id, bytes) VALUES (?, ?)`,
	putChunk:      `UPDATE data SET bytes = ?2 WHERE id = ?1`,
	cutChunk:      `UPDATE data SET bytes = substr(CAST(bytes AS BLOB), 1, ?) WHERE id = ?`,
	deleteChunks:  `DELETE FROM data WHERE id BETWEEN ? AND ?`,

	// A value that is longer than the format allows comes cut off, so that it takes no memory of
	// the program.
	selectXattrs: `SELECT substr(CAST(name AS BLOB), 1, ` + strconv.Itoa(store.MaxXattrName+1) + `),
		substr(CAST(value AS BLOB), 1, ` + strconv.Itoa(store.MaxXattrValue+1) + `) FROM xattr WHERE ino = ? ORDER BY name`,
	putXattr: `INSERT INTO xattr (ino, name, value) VALUES (?, ?, coalesce(?, x''))
		ON CONFLICT (ino, name) DO UPDATE SET value = excluded.value`,
	deleteXattr:  `DELETE FROM xattr WHERE ino = ? AND name = ?`,
	deleteXattrs: `DELETE FROM xattr WHERE ino = ?`,

	ownChunks:    `INSERT INTO data (id, bytes) ` + shown,
	shareLess:    `UPDATE origin SET chunks = ?1 & 268435455 WHERE ino = ?1 >> 28 AND chunks > ?1 & 268435455`,
	shareNothing: `DELETE FROM origin WHERE ino = ?1 >> 28 AND chunks = 0`,

	// touch changes nothing, but is a change: its commit, and all commits before it, can be synced.
	touch: `PRAGMA user_version = 1`,

	// present locks the side database, and the transaction keeps the lock. probe succeeds if no
	// other Store has it locked (see pins).
	present: `SELECT count(*) FROM hold.sqlite_master`,
	probe:   `PRAGMA hold.user_version = 1`,
}

// shown are the chunks of the base that show through in a range of ids, ?1 to ?2, of one inode.
const shown = `SELECT (o.ino << 28) + (d.id & 268435455) AS id, d.bytes FROM origin AS o
	JOIN data AS d ON d.id >= (o.base << 28) + (?1 & 268435455) AND d.id < (o.base << 28) + min(o.chunks, (?2 & 268435455) + 1)
	WHERE o.ino = ?1 >> 28 AND NOT EXISTS (SELECT 1 FROM data AS own WHERE own.id = (o.ino << 28) + (d.id & 268435455))`

// held are all chunks in such a range.
const held = `(SELECT id, bytes FROM data WHERE id BETWEEN ?1 AND ?2 UNION ALL ` + shown + `)`
