package sqlstore

// A statement is one that connections prepare when they first need it, and keep.
type statement int

const (
	begin statement = iota
	beginImmediate
	commit
	rollback
	dataVersion
	selectNode
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
	sumChunks
	insertChunk
	putChunk
	cutChunk
	deleteChunks
	putXattr
	deleteXattr
	deleteXattrs
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
}

var statements = [numStatements]string{
	begin:          `BEGIN`,
	beginImmediate: `BEGIN IMMEDIATE`,
	commit:         `COMMIT`,
	rollback:       `ROLLBACK`,
	dataVersion:    `PRAGMA data_version`,

	selectNode: `SELECT mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev FROM node WHERE ino = ?`,
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
	putOrphan:    `INSERT OR REPLACE INTO orphan (ino) VALUES (?)`,
	selectOrphans: `SELECT orphan.ino FROM orphan JOIN node ON node.ino = orphan.ino
		WHERE orphan.ino > ? AND node.nlink = 0 ORDER BY orphan.ino LIMIT ?`,
	unmarkOrphans: `DELETE FROM orphan WHERE ino <> ? AND NOT EXISTS (SELECT 1 FROM node WHERE node.ino = orphan.ino)`,

	selectEntry:   `SELECT ino, type FROM entry WHERE parent = ? AND name = ?`,
	selectEntries: `SELECT name, ino, type FROM entry WHERE parent = ? AND name > ? ORDER BY name LIMIT ?`,
	putEntry:      `INSERT OR REPLACE INTO entry (parent, name, ino, type) VALUES (?, ?, ?, ?)`,
	deleteEntry:   `DELETE FROM entry WHERE parent = ? AND name = ?`,

	selectPart:   `SELECT substr(bytes, ?, ?) FROM data WHERE id = ?`,
	selectChunk:  `SELECT bytes FROM data WHERE id = ?`,
	selectChunks: `SELECT id, bytes FROM data WHERE id BETWEEN ? AND ? ORDER BY id`,
	selectLength: `SELECT length(bytes) FROM data WHERE id = ?`,
	sumChunks:    `SELECT coalesce(sum(length(bytes)), 0) FROM data WHERE id BETWEEN ? AND ?`,
	insertChunk:  `INSERT INTO data (id, bytes) VALUES (?, ?)`,
	putChunk:     `INSERT OR REPLACE INTO data (id, bytes) VALUES (?, ?)`,
	cutChunk:     `UPDATE data SET bytes = substr(bytes, 1, ?) WHERE id = ?`,
	deleteChunks: `DELETE FROM data WHERE id BETWEEN ? AND ?`,

	selectXattrs: `SELECT name, value FROM xattr WHERE ino = ? ORDER BY name`,
	putXattr:     `INSERT OR REPLACE INTO xattr (ino, name, value) VALUES (?, ?, coalesce(?, x''))`,
	deleteXattr:  `DELETE FROM xattr WHERE ino = ? AND name = ?`,
	deleteXattrs: `DELETE FROM xattr WHERE ino = ?`,

	// touch changes nothing, but is a change: what it commits, and all before it, can be synced.
	touch: `PRAGMA user_version = 1`,

	// present locks the side database, which the transaction keeps; probe succeeds if nobody else has it locked (see holds).
	present: `SELECT count(*) FROM hold.sqlite_master`,
	probe:   `PRAGMA hold.user_version = 1`,
}
