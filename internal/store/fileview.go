package store

// FileStatements make view file, by which SQL reads and writes files: the view, its triggers, and
// the views that these go through. docs/reference/format.md describes them.
//
// A trigger cannot keep a value from one statement to the next. So each trigger on file inserts
// what it has worked out into a view of its own, whose trigger finds it in NEW.
//
// An UPDATE or a DELETE reads all its rows before it changes the first one. By the turn of a row
// its path may lead to another file, for example because a directory has moved. So the rows have
// columns ino and parent: the triggers find a file by these and its name, not by its path.
var FileStatements = []string{
	fileView,
	`CREATE VIEW file_make AS
SELECT 0 AS parent, '' AS name, 0 AS ino, 0 AS mode, 0 AS mtime_ns, 0 AS now_ns, x'' AS content WHERE 0`,
	`CREATE VIEW file_move AS
SELECT 0 AS parent, '' AS name, 0 AS to_parent, '' AS to_name, 0 AS now_ns WHERE 0`,
	`CREATE VIEW file_change AS
SELECT 0 AS ino, 0 AS mode, 0 AS mtime_ns, 0 AS now_ns, x'' AS content WHERE 0`,
	`CREATE VIEW file_drop AS
SELECT 0 AS parent, '' AS name, 0 AS ino, 0 AS type, 0 AS now_ns WHERE 0`,
	insertFile, makeFile,
	updateFile, moveFile, changeFile,
	deleteFile, dropFile,
}

// CROSS JOIN lets SQLite go through the tree from the top: a statement that moves a directory and
// what is in it comes to the directory first. The plus sign takes the affinity of TEXT away from
// the path: with it SQLite makes a text of a number that an UPDATE sets, before the trigger sees
// it.
const fileView = `CREATE VIEW file AS
WITH RECURSIVE tree(path, ino, type, parent) AS (
  SELECT name, ino, type, parent FROM entry WHERE parent = 1
  UNION ALL
  SELECT path || '/' || entry.name, entry.ino, entry.type, entry.parent
  FROM tree JOIN entry ON entry.parent = tree.ino WHERE tree.type = 2
)
SELECT
  +path AS path,
  CASE type WHEN 1 THEN 'file' WHEN 2 THEN 'dir' WHEN 3 THEN 'symlink' WHEN 4 THEN 'char'
    WHEN 5 THEN 'block' WHEN 6 THEN 'fifo' WHEN 7 THEN 'socket' END AS type,
  printf('%04o', mode & 4095) AS mode,
  size,
  strftime('%Y-%m-%dT%H:%M:%SZ', mtime_ns / 1000000000 - (mtime_ns % 1000000000 < 0), 'unixepoch') AS mtime,
  CASE
    WHEN type NOT IN (1, 3) OR size > 1000000000 THEN NULL
    WHEN size = 0 THEN x''
    WHEN size <= 65536 AND holes = 0 THEN (SELECT bytes FROM data WHERE id = node.ino << 28)
    ELSE (
      WITH RECURSIVE chunk(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM chunk WHERE (i + 1) << 16 < node.size)
      SELECT CAST(group_concat(coalesce(bytes, x'') ||
        zeroblob(min(65536, node.size - (i << 16)) - coalesce(length(bytes), 0)), '') AS BLOB)
      FROM (SELECT i FROM chunk ORDER BY i) LEFT JOIN data ON data.id = (node.ino << 28) + i
    )
  END AS content,
  ino,
  parent
FROM tree CROSS JOIN node USING (ino)`

const (
	insertFile = `CREATE TRIGGER file_insert INSTEAD OF INSERT ON file BEGIN
  SELECT CASE` + checkedPath + `
    WHEN NEW.type NOT IN ('file', 'dir', 'symlink', 'fifo', 'socket') THEN RAISE(ABORT, 'file: type must be file, dir, symlink, fifo or socket')
    WHEN NEW.size <> length(CAST(coalesce(NEW.content, x'') AS BLOB)) THEN ` + noSize + `
  END;
  INSERT INTO file_make SELECT ` + newParent + `, ` + newName + `,
    max(coalesce((SELECT max(ino) FROM node), 1), coalesce((SELECT max(ino) FROM orphan), 1)) + 1,
    CASE coalesce(NEW.type, 'file') WHEN 'file' THEN 32768 WHEN 'dir' THEN 16384 WHEN 'symlink' THEN 40960 WHEN 'fifo' THEN 4096 ELSE 49152 END
      + coalesce(` + newMode + `, CASE NEW.type WHEN 'dir' THEN 493 WHEN 'symlink' THEN 511 ELSE 420 END),
    CASE WHEN NEW.mtime IS NULL THEN ` + now + ` ELSE ` + newTime + ` END, ` + now + `, CAST(coalesce(NEW.content, x'') AS BLOB);
END`

	makeFile = `CREATE TRIGGER file_make_insert INSTEAD OF INSERT ON file_make BEGIN
  SELECT CASE
    WHEN NEW.parent IS NULL THEN ` + noDir + `
    WHEN (SELECT mode >> 12 FROM node WHERE ino = NEW.parent) IS NOT 4 THEN ` + notDir + `
    WHEN length(CAST(NEW.name AS BLOB)) > 765 THEN ` + longName + `
    WHEN EXISTS (SELECT 1 FROM entry WHERE parent = NEW.parent AND name = NEW.name) THEN RAISE(ABORT, 'file: there is a file of this path; UPDATE changes it')
    WHEN typeof(NEW.mtime_ns) <> 'integer' THEN ` + noTime + `
    WHEN NEW.ino > 34359738367 THEN RAISE(ABORT, 'file: all numbers of inodes are given; copy the tree to a new volume')
    WHEN NEW.mode >> 12 NOT IN (8, 10) AND length(NEW.content) > 0 THEN ` + noContent + `
    WHEN NEW.mode >> 12 = 10 AND ` + oddTarget + ` THEN ` + noTarget + `
  END;
  INSERT INTO node (ino, mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev)
    SELECT NEW.ino, NEW.mode | CASE NEW.mode >> 12 WHEN 4 THEN mode & 1024 ELSE 0 END, 1 + (NEW.mode >> 12 = 4), uid, gid,
      length(NEW.content), 0, NEW.mtime_ns, NEW.now_ns, NEW.now_ns, 0
    FROM node WHERE ino = NEW.parent;
  INSERT INTO entry (parent, name, ino, type)
    VALUES (NEW.parent, NEW.name, NEW.ino, CASE NEW.mode >> 12 WHEN 8 THEN 1 WHEN 4 THEN 2 WHEN 10 THEN 3 WHEN 1 THEN 6 ELSE 7 END);
  INSERT INTO data (id, bytes) ` + newChunks + `;
  UPDATE node SET nlink = nlink + (NEW.mode >> 12 = 4), mtime_ns = NEW.now_ns, ctime_ns = NEW.now_ns WHERE ino = NEW.parent;
END`

	updateFile = `CREATE TRIGGER file_update INSTEAD OF UPDATE ON file BEGIN
  SELECT CASE` + checkedPath + `
    WHEN NEW.mode IS NULL THEN ` + noMode + `
    WHEN NEW.type IS NOT OLD.type THEN RAISE(ABORT, 'file: type cannot change')
    WHEN NEW.ino IS NOT OLD.ino OR NEW.parent IS NOT OLD.parent THEN RAISE(ABORT, 'file: ino and parent cannot be set')
    WHEN NEW.size IS NOT OLD.size AND NEW.size IS NOT length(CAST(coalesce(NEW.content, x'') AS BLOB)) THEN ` + noSize + `
    WHEN NOT EXISTS (SELECT 1 FROM entry WHERE parent = OLD.parent AND name = ` + oldName + ` AND ino = OLD.ino) THEN ` + noFile + `
    WHEN OLD.type = 'dir' AND NEW.path <> OLD.path AND OLD.ino IN (` + newWay + ` SELECT ino FROM way)
      THEN RAISE(ABORT, 'file: a directory cannot move into itself')
  END;
  INSERT INTO file_move SELECT OLD.parent, ` + oldName + `, ` + newParent + `, ` + newName + `, ` + now + `
    WHERE NEW.path <> OLD.path;
  INSERT INTO file_change SELECT OLD.ino,
    CASE WHEN ` + octal + ` <> OLD.mode THEN ` + newMode + ` END, CASE WHEN NEW.mtime IS NOT OLD.mtime THEN ` + newTime + ` END, ` + now + `,
    CASE WHEN CAST(NEW.content AS BLOB) IS NOT OLD.content THEN CAST(coalesce(NEW.content, x'') AS BLOB) END
    WHERE ` + octal + ` <> OLD.mode OR NEW.mtime IS NOT OLD.mtime OR CAST(NEW.content AS BLOB) IS NOT OLD.content;
END`

	// A directory that has moved took its entries with it. The entries that should go with it are
	// there.
	moveFile = `CREATE TRIGGER file_move_insert INSTEAD OF INSERT ON file_move
WHEN NEW.to_parent IS NOT NEW.parent OR NEW.to_name <> NEW.name
BEGIN
  SELECT CASE
    WHEN NEW.to_parent IS NULL THEN ` + noDir + `
    WHEN (SELECT mode >> 12 FROM node WHERE ino = NEW.to_parent) IS NOT 4 THEN ` + notDir + `
    WHEN length(CAST(NEW.to_name AS BLOB)) > 765 THEN ` + longName + `
    WHEN NOT EXISTS (SELECT 1 FROM entry WHERE parent = NEW.parent AND name = NEW.name) THEN ` + noFile + `
    WHEN EXISTS (SELECT 1 FROM entry WHERE parent = NEW.to_parent AND name = NEW.to_name) THEN RAISE(ABORT, 'file: there is a file of the new path; DELETE it first')
  END;
  INSERT INTO entry (parent, name, ino, type)
    SELECT NEW.to_parent, NEW.to_name, ino, type FROM entry WHERE parent = NEW.parent AND name = NEW.name;
  DELETE FROM entry WHERE parent = NEW.parent AND name = NEW.name;
  UPDATE node SET ctime_ns = NEW.now_ns WHERE ino = (SELECT ino FROM entry WHERE parent = NEW.to_parent AND name = NEW.to_name);
  UPDATE node SET nlink = nlink - (SELECT type = 2 FROM entry WHERE parent = NEW.to_parent AND name = NEW.to_name),
    mtime_ns = NEW.now_ns, ctime_ns = NEW.now_ns WHERE ino = NEW.parent;
  UPDATE node SET nlink = nlink + (SELECT type = 2 FROM entry WHERE parent = NEW.to_parent AND name = NEW.to_name),
    mtime_ns = NEW.now_ns, ctime_ns = NEW.now_ns WHERE ino = NEW.to_parent;
END`

	changeFile = `CREATE TRIGGER file_change_insert INSTEAD OF INSERT ON file_change BEGIN
  SELECT CASE
    WHEN NOT EXISTS (SELECT 1 FROM node WHERE ino = NEW.ino) THEN ` + noFile + `
    WHEN typeof(NEW.mtime_ns) NOT IN ('integer', 'null') THEN ` + noTime + `
    WHEN NEW.content IS NOT NULL AND (SELECT mode >> 12 FROM node WHERE ino = NEW.ino) NOT IN (8, 10) THEN ` + noContent + `
    WHEN (SELECT mode >> 12 FROM node WHERE ino = NEW.ino) = 10 AND ` + oddTarget + ` THEN ` + noTarget + `
  END;
  DELETE FROM data WHERE NEW.content IS NOT NULL AND id BETWEEN NEW.ino << 28 AND (NEW.ino << 28) + 268435455;
  INSERT INTO data (id, bytes) ` + newChunks + `;
  UPDATE node SET mode = coalesce(mode & 61440 | (NEW.mode & 4095), mode), size = coalesce(length(NEW.content), size),
    holes = CASE WHEN NEW.content IS NULL THEN holes ELSE 0 END,
    mtime_ns = coalesce(NEW.mtime_ns, CASE WHEN NEW.content IS NULL THEN mtime_ns ELSE NEW.now_ns END), ctime_ns = NEW.now_ns
    WHERE ino = NEW.ino;
END`

	deleteFile = `CREATE TRIGGER file_delete INSTEAD OF DELETE ON file BEGIN
  INSERT INTO file_drop SELECT parent, name, ino, type, ` + now + ` FROM (
    WITH RECURSIVE below(parent, name, ino, type) AS (
      SELECT parent, name, ino, type FROM entry WHERE parent = OLD.parent AND name = ` + oldName + `
      UNION ALL
      SELECT e.parent, e.name, e.ino, e.type FROM below JOIN entry AS e ON e.parent = below.ino WHERE below.type = 2
    )
    SELECT * FROM below
  );
END`

	// The content stays until a program that sees which files are open removes the orphan.
	dropFile = `CREATE TRIGGER file_drop_insert INSTEAD OF INSERT ON file_drop BEGIN
  DELETE FROM entry WHERE parent = NEW.parent AND name = NEW.name;
  UPDATE node SET nlink = CASE NEW.type WHEN 2 THEN 0 ELSE nlink - 1 END, ctime_ns = NEW.now_ns WHERE ino = NEW.ino;
  INSERT INTO orphan (ino) SELECT ino FROM node WHERE ino = NEW.ino AND nlink = 0 AND NOT EXISTS (SELECT 1 FROM orphan WHERE ino = NEW.ino);
  UPDATE node SET nlink = nlink - (NEW.type = 2), mtime_ns = NEW.now_ns, ctime_ns = NEW.now_ns WHERE ino = NEW.parent AND nlink > 0;
END`
)

// Parts of the triggers.
const (
	now = `CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000000`

	// A path is a directory, up to its last slash, and a name.
	newDir  = `rtrim(NEW.path, replace(NEW.path, '/', ''))`
	oldDir  = `rtrim(OLD.path, replace(OLD.path, '/', ''))`
	newName = `substr(NEW.path, length(` + newDir + `) + 1)`
	oldName = `substr(OLD.path, length(` + oldDir + `) + 1)`

	// newWay is the way to a new path: the inodes of its directories, and the names that follow.
	newWay = `
      WITH RECURSIVE way(rest, ino) AS (
        SELECT ` + newDir + `, 1
        UNION ALL
        SELECT substr(rest, instr(rest, '/') + 1),
          (SELECT ino FROM entry WHERE parent = way.ino AND name = substr(rest, 1, instr(rest, '/') - 1))
        FROM way WHERE rest <> '' AND ino IS NOT NULL
      )`
	newParent = `(` + newWay + `
      SELECT ino FROM way WHERE rest = ''
    )`

	octal   = `substr('000' || NEW.mode, -4)`
	newMode = `(substr(` + octal + `, 1, 1) * 512 + substr(` + octal + `, 2, 1) * 64 + substr(` + octal + `, 3, 1) * 8 + substr(` + octal + `, 4, 1))`
	// newTime is no integer if NEW.mtime is no time, or none that 64 bits of nanoseconds tell.
	newTime = `coalesce(CASE typeof(NEW.mtime) WHEN 'integer' THEN NEW.mtime * 1000000000
      WHEN 'real' THEN CASE WHEN abs(NEW.mtime) <= 9223372036 THEN CAST(NEW.mtime * 1000000000 AS INTEGER) END
      ELSE strftime('%s', NEW.mtime) * 1000000000 + substr(strftime('%f', NEW.mtime), 4) * 1000000 END, '')`
	newChunks = `SELECT (NEW.ino << 28) + i, substr(NEW.content, (i << 16) + 1, 65536) FROM (
    WITH RECURSIVE chunk(i) AS (
      SELECT 0 WHERE length(NEW.content) > 0
      UNION ALL
      SELECT i + 1 FROM chunk WHERE (i + 1) << 16 < length(NEW.content)
    )
    SELECT i FROM chunk
  )`
	oddTarget = `(length(NEW.content) NOT BETWEEN 1 AND 32767 OR instr(NEW.content, x'00') > 0)`

	checkedPath = `
    WHEN typeof(NEW.path) <> 'text' THEN RAISE(ABORT, 'file: path must be a text')
    WHEN NEW.path = '' THEN RAISE(ABORT, 'file: path is empty')
    WHEN instr(NEW.path, char(0)) > 0 THEN RAISE(ABORT, 'file: path holds a NUL')
    WHEN length(CAST(NEW.path AS BLOB)) > 32767 THEN RAISE(ABORT, 'file: path is longer than 32767 bytes')
    WHEN instr('/' || NEW.path || '/', '//') > 0 THEN RAISE(ABORT, 'file: path begins or ends with a slash, or has two in a row; names are joined by one, as in dir/name')
    WHEN instr('/' || NEW.path || '/', '/./') + instr('/' || NEW.path || '/', '/../') > 0 THEN RAISE(ABORT, 'file: path has . or .. in it')
    WHEN ` + newDir + ` || ` + newName + ` <> NEW.path THEN RAISE(ABORT, 'file: path is not UTF-8')
    WHEN typeof(NEW.mode) NOT IN ('text', 'null') OR NEW.mode GLOB '*[^0-7]*' OR length(NEW.mode) NOT BETWEEN 1 AND 4 THEN ` + noMode

	noMode    = `RAISE(ABORT, 'file: mode must be a text of 1 to 4 octal digits, as in ''0644''')`
	noTime    = `RAISE(ABORT, 'file: mtime must be a time between 1678 and 2262, as in 2026-01-31T12:00:00Z, or seconds since 1970')`
	noSize    = `RAISE(ABORT, 'file: size follows from content; leave it out')`
	noDir     = `RAISE(ABORT, 'file: a directory of this path does not exist; insert it first, with type ''dir''')`
	notDir    = `RAISE(ABORT, 'file: the path leads through something that is no directory')`
	noFile    = `RAISE(ABORT, 'file: there is no such file any more')`
	noContent = `RAISE(ABORT, 'file: only a file or a symlink has a content')`
	noTarget  = `RAISE(ABORT, 'file: the content of a symlink is its target: 1 to 32767 bytes without NUL')`
	longName  = `RAISE(ABORT, 'file: a name is longer than 765 bytes')`
)
