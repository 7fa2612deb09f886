package store

import "strings"

// The view change shows the changes between each snapshot and the next one, or the volume as it
// is: names that were made and removed, and files that were changed and have kept their names.
//
// It begins with the rows that were kept, and with the names of inodes that are younger than a
// snapshot. Nothing but the entries tells the names of an inode, so that these are read through
// twice. It does without window functions and MATERIALIZED: a SQLite that cannot parse a view
// cannot read the database.
//
//	pair     two states that follow each other: the numbers lo and hi, and the first inodes that
//	         they do not see
//	key      names that may be others in the second state
//	named    those that are, with both inodes
//	changed  inodes that are others, and in both states
//	found    all changes, each with the state in which its path is
//	way      the paths of the directories of these, from the bottom up
var changeView = `CREATE VIEW change AS
WITH RECURSIVE pair(lo, low, since, hi, high, until) AS (
  SELECT s.id, s.next, s.name, coalesce(t.id, 9223372036854775807), coalesce(t.next, 9223372036854775807), t.name
  FROM snapshot AS s LEFT JOIN snapshot AS t ON t.id = (SELECT min(id) FROM snapshot WHERE name IS NOT NULL AND id > s.id)
  WHERE s.name IS NOT NULL
), key(since_id, parent, name) AS (
  SELECT (SELECT id FROM snapshot WHERE name IS NOT NULL AND id <= until ORDER BY id DESC LIMIT 1), parent, name FROM entry_was
  UNION
  SELECT (SELECT s.id FROM snapshot AS s WHERE s.name IS NOT NULL AND s.next <= max(e.parent, e.ino) ORDER BY s.id DESC LIMIT 1), e.parent, e.name
  FROM entry AS e WHERE max(e.parent, e.ino) >= (SELECT min(next) FROM snapshot WHERE name IS NOT NULL)
  UNION
  SELECT (SELECT s.id FROM snapshot AS s WHERE s.name IS NOT NULL AND s.next <= max(w.parent, w.ino) ORDER BY s.id DESC LIMIT 1), w.parent, w.name
  FROM entry_was AS w WHERE w.ino > 0
), named(lo, low, hi, high, parent, name, was, became) AS (
  SELECT lo, low, hi, high, parent, name, ` + entryIn("lo", "low", "key.parent", "key.name") + `, ` + entryIn("hi", "high", "key.parent", "key.name") + `
  FROM key JOIN pair ON lo = since_id
), touched(at, inode) AS (
  SELECT DISTINCT (SELECT id FROM snapshot WHERE name IS NOT NULL AND id <= until ORDER BY id DESC LIMIT 1), ino FROM node_was
), both(lo, low, hi, high, ino, attributes, content) AS (
  SELECT lo, low, hi, high, inode,
    w.mode <> coalesce(x.mode, n.mode) OR w.uid <> coalesce(x.uid, n.uid) OR w.gid <> coalesce(x.gid, n.gid)
      OR w.mtime_ns <> coalesce(x.mtime_ns, n.mtime_ns) AND w.mode & 61440 <> 16384
      OR EXISTS (SELECT 1 FROM xattr_was AS a WHERE a.ino = inode AND a.until >= lo AND a.until < hi AND a.value IS NOT
        (SELECT v FROM (SELECT b.until AS u, b.value AS v FROM xattr_was AS b WHERE b.ino = a.ino AND b.name = a.name AND b.until >= hi
          UNION ALL SELECT 9223372036854775807, c.value FROM xattr AS c WHERE c.ino = a.ino AND c.name = a.name ORDER BY 1 LIMIT 1))),
    w.mode & 61440 <> 16384 AND (w.size <> coalesce(x.size, n.size) OR w.rdev <> coalesce(x.rdev, n.rdev)
      OR EXISTS (SELECT 1 FROM data_was AS a WHERE a.id >= inode << 28 AND a.id < (inode + 1) << 28 AND a.until >= lo AND a.until < hi AND
        CASE typeof(a.block) WHEN 'blob' THEN a.block ELSE (SELECT bytes FROM block WHERE id = a.block) END IS NOT
        (SELECT v FROM (SELECT b.until AS u, CASE typeof(b.block) WHEN 'blob' THEN b.block ELSE (SELECT bytes FROM block WHERE id = b.block) END AS v
          FROM data_was AS b WHERE b.id = a.id AND b.until >= hi
          UNION ALL SELECT 9223372036854775807, CAST(c.bytes AS BLOB) FROM data AS c WHERE c.id = a.id ORDER BY 1 LIMIT 1))))
  FROM touched JOIN pair ON lo = at
  JOIN node_was AS w ON w.ino = inode AND w.until = (SELECT min(until) FROM node_was WHERE ino = inode AND until >= lo)
  LEFT JOIN node_was AS x ON x.ino = inode AND x.until = (SELECT min(until) FROM node_was WHERE ino = inode AND until >= hi)
  LEFT JOIN node AS n ON n.ino = inode
), changed(lo, low, hi, high, ino, content) AS (
  SELECT lo, low, hi, high, ino, content FROM both WHERE attributes OR content
), found(lo, state, next, parent, name, change, content, ino) AS (
  SELECT lo, hi, high, parent, name, 'made', NULL, became FROM named WHERE became IS NOT NULL AND was IS NOT became
  UNION ALL
  SELECT lo, lo, low, parent, name, 'removed', NULL, was FROM named WHERE was IS NOT NULL AND was IS NOT became
  UNION ALL
  SELECT c.lo, hi, high, e.parent, e.name, 'changed', content, c.ino
  FROM changed AS c JOIN (SELECT parent, name, ino FROM entry UNION SELECT parent, name, ino FROM entry_was) AS e ON e.ino = c.ino
  WHERE ` + entryIn("c.lo", "low", "e.parent", "e.name") + ` = c.ino AND ` + entryIn("hi", "high", "e.parent", "e.name") + ` = c.ino
), way(state, next, dir, top, path) AS (
  SELECT DISTINCT state, next, parent, parent, '' FROM found
  UNION ALL
  SELECT state, next, dir, d.parent, d.name || '/' || path
  FROM way JOIN (SELECT parent, name, ino FROM entry WHERE type = 2 UNION SELECT parent, name, ino FROM entry_was WHERE type = 2) AS d ON d.ino = top
  WHERE top <> 1 AND length(path) < 65536 AND ` + entryIn("state", "next", "d.parent", "d.name") + ` = d.ino
)
SELECT since, until, path || name AS path, change, content, ino
FROM found JOIN pair ON pair.lo = found.lo JOIN way ON way.state = found.state AND way.dir = found.parent AND way.top = 1
UNION ALL
SELECT since, until, '.', 'changed', content, ino FROM changed JOIN pair ON pair.lo = changed.lo WHERE ino = 1`

// entryIn is an expression for the inode that a name leads to in a state, NULL if there is none.
func entryIn(state, next, parent, name string) string {
	return strings.NewReplacer("$s", state, "$x", next, "$p", parent, "$n", name).Replace(`(SELECT i FROM (
    SELECT coalesce((SELECT a.ino FROM entry_was AS a WHERE a.parent = $p AND a.name = $n AND a.until >= $s ORDER BY a.until LIMIT 1),
      (SELECT b.ino FROM entry AS b WHERE b.parent = $p AND b.name = $n)) AS i) WHERE i > 0 AND i < $x AND $p < $x)`)
}
