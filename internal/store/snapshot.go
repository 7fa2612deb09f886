package store

import (
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Snapshot is a named state of a volume.
type Snapshot struct {
	ID   int64 // later snapshots have greater ones
	Name string
	Time int64 // when it was made: nanoseconds since 1970 UTC
}

// Errors of snapshots.
var (
	// ErrNoSnapshot says that a volume has no snapshot of that name, or that it was removed. It
	// matches fs.ErrNotExist.
	ErrNoSnapshot error = &snapshotError{fs.ErrNotExist, "there is no snapshot of that name"}
	// ErrSnapshotExists says that a volume has a snapshot of that name. It matches fs.ErrExist.
	ErrSnapshotExists error = &snapshotError{fs.ErrExist, "a snapshot has that name"}
	// ErrSnapshotName says that no snapshot can have that name. It matches fs.ErrInvalid.
	ErrSnapshotName error = &snapshotError{fs.ErrInvalid, "not a name for a snapshot: 1 to 255 bytes that can be printed, without @, : and /"}
)

// A snapshotError matches an error of io/fs, with a text of its own.
type snapshotError struct {
	error
	text string
}

func (e *snapshotError) Error() string { return e.text }

func (e *snapshotError) Unwrap() error { return e.error }

// Differences name the inodes and names that may differ between two states of a volume. Everything
// that does differ is among it.
type Differences struct {
	Nodes  []Ino   // inodes, with their content and extended attributes; in order
	Chunks []int64 // ids of data rows of inodes that both states have; in order
	// Names lists the names that these inodes, and all directories, may have in either state.
	Names map[Ino][]EntryKey
}

// MaxInlineBlock is the longest content, in bytes, that a row of table data_was holds itself.
const MaxInlineBlock = 960

// MaxSnapshotName is the longest name of a snapshot in bytes.
const MaxSnapshotName = 255

// ValidSnapshotName reports whether a snapshot can have that name: UTF-8 up to MaxSnapshotName
// bytes that can be printed, without '@', ':' and '/', and not "." and "..".
func ValidSnapshotName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > MaxSnapshotName || !utf8.ValidString(name) {
		return false
	}
	for _, r := range name {
		if r == '@' || r == ':' || r == '/' || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// HistoryTables are the statements that make the tables of a volume with snapshots.
// docs/reference/format.md explains them.
var HistoryTables = []string{
	`CREATE TABLE snapshot (
  id      INTEGER PRIMARY KEY,  -- later snapshots have greater ones
  name    TEXT UNIQUE,          -- NULL if it was removed
  time_ns INTEGER NOT NULL,
  next    INTEGER NOT NULL      -- inodes from this number on are younger
)`,
	`CREATE TABLE node_was (
  ino      INTEGER NOT NULL,
  until    INTEGER NOT NULL,    -- the last snapshot that has the row like this
  mode     INTEGER NOT NULL,
  nlink    INTEGER NOT NULL,
  uid      INTEGER NOT NULL,
  gid      INTEGER NOT NULL,
  size     INTEGER NOT NULL,
  holes    INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL,
  atime_ns INTEGER NOT NULL,
  rdev     INTEGER NOT NULL,
  PRIMARY KEY (ino, until)
) WITHOUT ROWID`,
	`CREATE TABLE entry_was (
  parent INTEGER NOT NULL,
  name   TEXT NOT NULL,
  until  INTEGER NOT NULL,
  ino    INTEGER NOT NULL,      -- 0: there was no such entry
  type   INTEGER NOT NULL,
  PRIMARY KEY (parent, name, until)
) WITHOUT ROWID`,
	`CREATE TABLE data_was (
  id    INTEGER NOT NULL,
  until INTEGER NOT NULL,
  block NOT NULL,               -- its number, or a short content itself, or 0: there was no such row
  PRIMARY KEY (id, until)
) WITHOUT ROWID`,
	`CREATE TABLE block (
  id    INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL           -- of a row of data
)`,
	`CREATE TABLE xattr_was (
  ino   INTEGER NOT NULL,
  name  TEXT NOT NULL,
  until INTEGER NOT NULL,
  value BLOB,                   -- NULL: there was no such attribute
  PRIMARY KEY (ino, name, until)
) WITHOUT ROWID`,
}

// fileAtView is view file_at of a volume without clones.
const fileAtView = `CREATE VIEW file_at AS
WITH RECURSIVE tree(id, next, snapshot, path, ino, type) AS (
  SELECT id, next, name, '', 1, 2 FROM snapshot WHERE name IS NOT NULL
  UNION ALL
  SELECT id, next, snapshot, path || '/' || e.name, e.ino, e.type
  FROM tree JOIN entry AS e ON e.parent = tree.ino
  WHERE tree.type = 2 AND e.ino < next
    AND NOT EXISTS (SELECT 1 FROM entry_was AS w WHERE w.parent = e.parent AND w.name = e.name AND w.until >= id)
  UNION ALL
  SELECT id, next, snapshot, path || '/' || w.name, w.ino, w.type
  FROM tree JOIN entry_was AS w ON w.parent = tree.ino
  WHERE tree.type = 2 AND w.until >= id AND w.ino > 0 AND w.ino < next
    AND NOT EXISTS (SELECT 1 FROM entry_was AS x WHERE x.parent = w.parent AND x.name = w.name AND x.until >= id AND x.until < w.until)
), found AS (
  SELECT tree.*, coalesce(w.mode, n.mode) AS mode, coalesce(w.size, n.size) AS size, coalesce(w.mtime_ns, n.mtime_ns) AS mtime_ns
  FROM tree LEFT JOIN node AS n ON n.ino = tree.ino
  LEFT JOIN node_was AS w ON w.ino = tree.ino AND w.until = (SELECT min(until) FROM node_was WHERE ino = tree.ino AND until >= tree.id)
  WHERE path <> ''
)
SELECT
  snapshot,
  substr(path, 2) AS path,
  CASE type WHEN 1 THEN 'file' WHEN 2 THEN 'dir' WHEN 3 THEN 'symlink' WHEN 4 THEN 'char'
    WHEN 5 THEN 'block' WHEN 6 THEN 'fifo' WHEN 7 THEN 'socket' END AS type,
  printf('%04o', mode & 4095) AS mode,
  size,
  strftime('%Y-%m-%dT%H:%M:%SZ', mtime_ns / 1000000000 - (mtime_ns % 1000000000 < 0), 'unixepoch') AS mtime,
  CASE
    WHEN type NOT IN (1, 3) OR size > 1000000000 THEN NULL
    WHEN size = 0 THEN x''
    ELSE (
      WITH RECURSIVE chunk(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM chunk WHERE (i + 1) << 16 < found.size),
      part(i, bytes) AS (
        SELECT i, coalesce(substr(coalesce(
          (SELECT CASE typeof(w.block) WHEN 'blob' THEN w.block ELSE coalesce((SELECT b.bytes FROM block AS b WHERE b.id = w.block), x'') END
           FROM data_was AS w WHERE w.id = (found.ino << 28) + i AND w.until >= found.id ORDER BY w.until LIMIT 1),
          (SELECT d.bytes FROM data AS d WHERE d.id = (found.ino << 28) + i)), 1, min(65536, found.size - (i << 16))), x'')
        FROM (SELECT i FROM chunk ORDER BY i)
      )
      SELECT CAST(group_concat(bytes || zeroblob(min(65536, found.size - (i << 16)) - length(bytes)), '') AS BLOB) FROM part
    )
  END AS content
FROM found`

// The parts of the triggers below. Each keeps a row that a statement of SQL is about to change,
// once for the newest snapshot, as the engine does by itself.
const (
	newestSnapshot = `(SELECT id, next FROM snapshot WHERE name IS NOT NULL ORDER BY id DESC LIMIT 1) AS s`

	keepNode = `
  INSERT INTO node_was SELECT n.ino, s.id, n.mode, n.nlink, n.uid, n.gid, n.size, n.holes, n.mtime_ns, n.ctime_ns, n.atime_ns, n.rdev
  FROM ` + newestSnapshot + ` JOIN node AS n ON n.ino = #
  WHERE n.ino < s.next AND n.nlink > 0 AND NOT EXISTS (SELECT 1 FROM node_was WHERE ino = n.ino AND until >= s.id);`

	keepEntry = `
  INSERT INTO entry_was SELECT $.parent, $.name, s.id, coalesce(e.ino, 0), coalesce(e.type, 0)
  FROM ` + newestSnapshot + ` LEFT JOIN entry AS e ON e.parent = $.parent AND e.name = $.name AND e.ino < s.next
  WHERE $.parent < s.next AND (e.ino IS NOT NULL OR $.ino < s.next)
    AND NOT EXISTS (SELECT 1 FROM entry_was WHERE parent = $.parent AND name = $.name AND until >= s.id);`

	unkeptData = `$.id >> 28 < s.next AND NOT EXISTS (SELECT 1 FROM data_was WHERE id = $.id AND until >= s.id)
    AND (EXISTS (SELECT 1 FROM node WHERE ino = $.id >> 28 AND nlink > 0) OR EXISTS (SELECT 1 FROM node_was WHERE ino = $.id >> 28))`

	keepData = `
  INSERT INTO block (bytes) SELECT d.bytes FROM ` + newestSnapshot + ` JOIN data AS d ON d.id = $.id
  WHERE length(d.bytes) > 960 AND ` + unkeptData + `;
  INSERT INTO data_was SELECT $.id, s.id, CASE WHEN d.id IS NULL THEN 0 WHEN length(d.bytes) > 960 THEN last_insert_rowid() ELSE CAST(d.bytes AS BLOB) END
  FROM ` + newestSnapshot + ` LEFT JOIN data AS d ON d.id = $.id
  WHERE ` + unkeptData + `;`

	keepXattr = `
  INSERT INTO xattr_was SELECT $.ino, $.name, s.id, x.value
  FROM ` + newestSnapshot + ` LEFT JOIN xattr AS x ON x.ino = $.ino AND x.name = $.name
  WHERE $.ino < s.next AND NOT EXISTS (SELECT 1 FROM xattr_was WHERE ino = $.ino AND name = $.name AND until >= s.id);`
)

// historyTriggers are the statements that make the triggers of a volume with snapshots. In one with
// clones they keep the content that a row of data stands for: the row of the base, if there is
// none.
func historyTriggers(clones bool) (list []string) {
	node := func(ino string) string { return strings.ReplaceAll(keepNode, "#", ino) }
	data := keepData
	if clones {
		data = strings.NewReplacer(
			"d.id = $.id", "d.id = "+Holder("$.id"),
			"d.id IS NULL THEN", "coalesce(length(d.bytes), 0) = 0 THEN",
		).Replace(data)
	}
	for _, of := range []struct{ table, keep string }{
		{"node", node("$.ino")}, {"entry", keepEntry}, {"data", node("$.id >> 28") + data}, {"xattr", node("$.ino") + keepXattr},
	} {
		add := func(event string, rows ...string) {
			body := ""
			for _, row := range rows {
				body += strings.ReplaceAll(of.keep, "$", row)
			}
			list = append(list, "CREATE TRIGGER "+of.table+"_was_"+event+" BEFORE "+event+" ON "+of.table+" BEGIN"+body+"\nEND")
		}
		add("insert", "NEW")
		add("update", "NEW", "OLD")
		add("delete", "OLD")
	}
	return list
}
