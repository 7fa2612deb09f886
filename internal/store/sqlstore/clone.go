package sqlstore

import (
	"fmt"
	"strconv"

	"github.com/foliofs/folio/internal/store"
)

// Files of a volume may share content, which docs/reference/format.md describes. This package makes
// no clones. It reads those that another program has made, and writes them and their bases:
// triggers give clones the rows of a base before these change.
//
// A connection knows, of each transaction, whether there are clones. Then it uses other statements
// for chunks.

// look notes whether files share content in the transaction of c.
func (c *conn) look() error {
	c.clones = false
	version, err := c.number(userVersion)
	if err == nil && version > store.CloneVersion {
		err = fmt.Errorf("%w: its user_version is %d, this one reads up to %d", store.ErrNewerVersion, version, store.CloneVersion)
	}
	c.clones = version == store.CloneVersion
	return err
}

// clonedStatements are those that are others while files share content.
var clonedStatements = [numStatements]string{
	selectPart:    `SELECT substr(CAST(bytes AS BLOB), ?1, ?2) FROM data WHERE id = ` + store.Holder("?3"),
	selectChunk:   `SELECT substr(CAST(bytes AS BLOB), 1, ` + strconv.Itoa(store.ChunkSize+1) + `) FROM data WHERE id = ` + store.Holder("?1"),
	selectChunks:  `SELECT id, substr(CAST(bytes AS BLOB), 1, ` + strconv.Itoa(store.ChunkSize) + `) FROM ` + held + ` ORDER BY id`,
	selectLength:  `SELECT ` + lengthOfBytes + ` FROM data WHERE id = ` + store.Holder("?1"),
	selectLengths: `SELECT id, ` + lengthOfBytes + ` FROM ` + held + ` ORDER BY id`,
	sumChunks:     `SELECT coalesce(sum(` + lengthOfBytes + `), 0) FROM ` + held,
	insertChunk:   upsertChunk,
	putChunk:      upsertChunk,
	cutChunk: `INSERT INTO data (id, bytes) SELECT ?2, substr(CAST(bytes AS BLOB), 1, ?1) FROM data WHERE id = ` + store.Holder("?2") + `
		ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes`,

	// Bases of clones stay, and so do the marks of clones whose inodes SQL has removed.
	selectDead: `SELECT 1 FROM orphan JOIN node ON node.ino = orphan.ino WHERE orphan.ino = ? AND node.nlink = 0
		AND NOT EXISTS (SELECT 1 FROM origin WHERE base = orphan.ino)`,
	selectOrphans: `SELECT orphan.ino FROM orphan JOIN node ON node.ino = orphan.ino
		WHERE orphan.ino > ? AND node.nlink = 0 AND NOT EXISTS (SELECT 1 FROM origin WHERE base = orphan.ino) ORDER BY orphan.ino LIMIT ?`,
	unmarkOrphans: `DELETE FROM orphan WHERE ino <> ? AND NOT EXISTS (SELECT 1 FROM node WHERE node.ino = orphan.ino)
		AND NOT EXISTS (SELECT 1 FROM origin WHERE origin.ino = orphan.ino)`,

	touch: fmt.Sprint("PRAGMA user_version = ", store.CloneVersion),
}

const upsertChunk = `INSERT INTO data (id, bytes) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes`

// unshare lets a file share no chunk in a range that ends with its last one, so that the rows can
// be deleted. Triggers have kept for snapshots what shows there when it becomes rows.
func (t *tx) unshare(first, last int64) error {
	if !t.clones {
		return nil
	}
	for _, i := range []statement{ownChunks, shareLess, shareNothing} {
		args := []any{first, last}
		if i != ownChunks {
			args = args[:1]
		}
		if _, err := t.exec(i, args...); err != nil {
			return err
		}
	}
	return nil
}
