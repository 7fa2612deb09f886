package store

import (
	"slices"
	"strings"
	"sync"
)

// CloneVersion is PRAGMA user_version of a volume in which files share their content: one that has
// CloneTables.
const CloneVersion = 2

// CloneTables are the statements that make the table of a volume with clones, and its index.
// docs/reference/format.md explains them.
var CloneTables = []string{
	`CREATE TABLE origin (
  ino    INTEGER PRIMARY KEY,  -- a file that shares content with its base
  base   INTEGER NOT NULL,     -- the inode of the base
  chunks INTEGER NOT NULL      -- chunks from this number on are not shared
)`,
	`CREATE INDEX origin_base ON origin (base)`,
}

// holder is an expression for the id of the data row that has chunk i of an inode: its own, or that
// of its base.
func holder(ino, i string) string {
	return "coalesce((SELECT own.id FROM data AS own WHERE own.id = (" + ino + " << 28) + " + i + "),\n" +
		"      (SELECT (o.base << 28) + " + i + " FROM origin AS o WHERE o.ino = " + ino + " AND " + i + " < o.chunks))"
}

// Holder returns an expression for the id of the data row with a chunk: its own row, of the
// given id, or the base's.
func Holder(id string) string {
	return "coalesce((SELECT own.id FROM data AS own WHERE own.id = " + id + "),\n" +
		"    (SELECT (o.base << 28) + (" + id + " & 268435455) FROM origin AS o WHERE o.ino = " + id + " >> 28 AND (" + id + " & 268435455) < o.chunks))"
}

// FileStatementsOf returns FileStatements as they are in a volume with clones, or without.
func FileStatementsOf(clones bool) []string {
	if !clones {
		return FileStatements
	}
	return clonedFileStatements()
}

// In a volume with clones view file shows the shared content of a file, and a file that gets
// another content through it shares nothing any more.
var clonedFileStatements = sync.OnceValue(func() []string {
	list := slices.Clone(FileStatements)
	for i := range list {
		switch list[i] {
		case fileView:
			list[i] = strings.NewReplacer(
				"id = node.ino << 28", "id = "+holder("node.ino", "0"),
				"data.id = (node.ino << 28) + i", "data.id = "+holder("node.ino", "i"),
			).Replace(fileView)
		case changeFile:
			list[i] = strings.Replace(changeFile, "  DELETE FROM data", takeChunks+"\n  DELETE FROM data", 1)
		}
	}
	return list
})

const takeChunks = `  INSERT INTO data (id, bytes)
  SELECT (o.ino << 28) + (d.id & 268435455), d.bytes
  FROM origin AS o JOIN data AS d ON d.id >= o.base << 28 AND d.id < (o.base << 28) + o.chunks
  WHERE NEW.content IS NOT NULL AND o.ino = NEW.ino AND NOT EXISTS (SELECT 1 FROM data WHERE id = (o.ino << 28) + (d.id & 268435455));
  DELETE FROM origin WHERE NEW.content IS NOT NULL AND ino = NEW.ino;`

// HistoryViews returns the statements that make the views of a volume with snapshots.
func HistoryViews(clones bool) []string {
	if !clones {
		return []string{fileAtView, changeView}
	}
	return []string{
		strings.ReplaceAll(fileAtView, "d.id = (found.ino << 28) + i", "d.id = "+holder("found.ino", "i")),
		strings.ReplaceAll(changeView, "CAST(c.bytes AS BLOB) FROM data AS c WHERE c.id = a.id",
			"nullif(CAST(c.bytes AS BLOB), x'') FROM data AS c WHERE c.id = "+Holder("a.id")),
	}
}

// giveChunk is a part of the triggers below.
const giveChunk = `
  INSERT INTO data (id, bytes)
  SELECT (o.ino << 28) + ($.id & 268435455), coalesce((SELECT d.bytes FROM data AS d WHERE d.id = $.id), x'')
  FROM origin AS o WHERE o.base = $.id >> 28 AND ($.id & 268435455) < o.chunks
    AND NOT EXISTS (SELECT 1 FROM data WHERE id = (o.ino << 28) + ($.id & 268435455));`

// cloneTriggers are the statements that make the triggers by which changes through SQL leave clones
// as they are: a row of a base is given to its clones before it changes, a row of a clone that is
// deleted does not show that of the base, and no clone refers to an inode that is deleted.
var cloneTriggers = []string{
	"CREATE TRIGGER data_given_insert BEFORE INSERT ON data BEGIN" + forRow(giveChunk, "NEW") + "\nEND",
	"CREATE TRIGGER data_given_update BEFORE UPDATE ON data BEGIN" + forRow(giveChunk, "NEW") + forRow(giveChunk, "OLD") + "\nEND",
	"CREATE TRIGGER data_given_delete BEFORE DELETE ON data BEGIN" + forRow(giveChunk, "OLD") + "\nEND",
	`CREATE TRIGGER data_hidden_delete AFTER DELETE ON data
WHEN EXISTS (SELECT 1 FROM origin WHERE ino = OLD.id >> 28 AND (OLD.id & 268435455) < chunks) BEGIN
  INSERT INTO data (id, bytes) VALUES (OLD.id, x'');
END`,
	// A clone whose inode goes is left to the engine, which finds its number in table orphan: a
	// snapshot may need what it shows, or the inode may come again.
	`CREATE TRIGGER node_given_delete BEFORE DELETE ON node BEGIN
  INSERT INTO orphan (ino) SELECT ino FROM origin WHERE ino = OLD.ino AND NOT EXISTS (SELECT 1 FROM orphan WHERE ino = OLD.ino);
  INSERT INTO data (id, bytes)
  SELECT (o.ino << 28) + (d.id & 268435455), d.bytes
  FROM origin AS o JOIN data AS d ON d.id >= o.base << 28 AND d.id < (o.base << 28) + o.chunks
  WHERE o.base = OLD.ino AND NOT EXISTS (SELECT 1 FROM data WHERE id = (o.ino << 28) + (d.id & 268435455));
  UPDATE origin SET chunks = -chunks WHERE base = OLD.ino;
  DELETE FROM data WHERE id IN (SELECT d.id FROM origin AS o JOIN data AS d ON d.id >= o.ino << 28 AND d.id < (o.ino << 28) - o.chunks
    WHERE o.base = OLD.ino AND length(d.bytes) = 0);
  DELETE FROM origin WHERE base = OLD.ino;
END`,
	`CREATE TRIGGER node_given_insert AFTER INSERT ON node
WHEN NEW.nlink > 0 AND EXISTS (SELECT 1 FROM origin WHERE ino = NEW.ino) BEGIN
  DELETE FROM orphan WHERE ino = NEW.ino;
END`,
	`CREATE TRIGGER node_given_update BEFORE UPDATE OF size ON node
WHEN NEW.size < OLD.size AND (EXISTS (SELECT 1 FROM origin WHERE ino = OLD.ino AND (chunks - 1) << 16 >= NEW.size)
  OR EXISTS (SELECT 1 FROM origin AS s JOIN data AS d ON d.id = (s.base << 28) + (NEW.size >> 16) AND NEW.size >> 16 < s.chunks
    WHERE s.ino = OLD.ino AND length(d.bytes) > NEW.size & 65535
      AND NOT EXISTS (SELECT 1 FROM data WHERE id = (OLD.ino << 28) + (NEW.size >> 16)))) BEGIN
  SELECT RAISE(ABORT, 'this file shares content with another one: shorten it with folio');
END`,
}

// forRow puts a name in the place of $.
func forRow(text, name string) string { return strings.ReplaceAll(text, "$", name) }

// Triggers are the statements that make the triggers of a volume, with which changes through SQL
// preserve the rows that its snapshots and its clones need. Package store/native does the same by
// itself, and knows the triggers by these texts.
func Triggers(snapshots, clones bool) (list []string) {
	if snapshots {
		list = historyTriggers(clones)
	}
	if clones {
		list = append(list, cloneTriggers...)
	}
	return list
}

// keepTriggers are those of a volume with snapshots, with clones and without.
var keepTriggers = slices.Concat(historyTriggers(false), historyTriggers(true))

// IsHistoryTrigger reports whether a statement makes a trigger of a volume with snapshots.
func IsHistoryTrigger(sql string) bool { return slices.Contains(keepTriggers, sql) }

// IsOwnTrigger reports whether a statement is one of Triggers.
func IsOwnTrigger(sql string) bool {
	return IsHistoryTrigger(sql) || slices.Contains(cloneTriggers, sql)
}
