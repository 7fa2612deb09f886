package pgstore

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio/internal/store"
)

// A schemaName is the schema of a volume in its database.
type schemaName string

// quoted returns the schema for use in a statement. parseAddress lets no quote into it.
func (schema schemaName) quoted() string { return `"` + string(schema) + `"` }

// migrations make the tables of a volume, and change those of older versions: the i-th leads to
// version i+1. Each has run as a whole or not at all. A migration that was released must stay as it
// is: TestFirstRelease has a volume that the first one has made.
var migrations = [][]string{
	{
		`CREATE TABLE @volume (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  application text NOT NULL,    -- 'folio'
  version     integer NOT NULL, -- of these tables
  made        timestamptz NOT NULL DEFAULT now()
)`,
		`CREATE TABLE @node (
  ino      bigint PRIMARY KEY, -- 1 is the root
  mode     bigint NOT NULL,    -- POSIX st_mode
  nlink    bigint NOT NULL,
  uid      bigint NOT NULL,
  gid      bigint NOT NULL,
  size     bigint NOT NULL,    -- bytes
  holes    bigint NOT NULL,    -- bytes of size that no data row holds: zeros
  mtime_ns bigint NOT NULL,    -- since 1970 UTC
  ctime_ns bigint NOT NULL,
  atime_ns bigint NOT NULL,
  rdev     bigint NOT NULL
) WITH (fillfactor = 85)`,
		`CREATE TABLE @entry (
  parent bigint NOT NULL,
  name   bytea NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 765),
  ino    bigint NOT NULL,
  type   bigint NOT NULL,      -- 1 file, 2 dir, 3 symlink, 4 char, 5 block, 6 fifo, 7 socket
  PRIMARY KEY (parent, name)
)`,
		// A data row has bytes, or else a part of an object.
		`CREATE TABLE @data (
  id     bigint PRIMARY KEY,   -- ino<<28 | chunk
  bytes  bytea CHECK (octet_length(bytes) BETWEEN 1 AND 65536), -- content from byte chunk<<16 on
  object uuid,
  at     integer,
  length integer,
  sum    integer,              -- CRC-32C
  CHECK ((bytes IS NULL) = (object IS NOT NULL)),
  CHECK ((object IS NULL) = (at IS NULL)),
  CHECK ((object IS NULL) = (length IS NULL)),
  CHECK ((object IS NULL) = (sum IS NULL))
)`,
		`ALTER TABLE @data ALTER COLUMN bytes SET STORAGE EXTERNAL`, // so that a part of a chunk can be read
		`CREATE TABLE @xattr (
  ino   bigint NOT NULL,
  name  bytea NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 255),
  value bytea NOT NULL CHECK (octet_length(value) <= 65536),
  PRIMARY KEY (ino, name)
)`,
		`CREATE TABLE @session (
  id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  seen  timestamptz NOT NULL DEFAULT clock_timestamp(),
  lease interval NOT NULL      -- the session is dead if it was not seen for so long
)`,
		`CREATE TABLE @orphan (
  ino   bigint PRIMARY KEY,    -- has no name, but may be in use
  waits bigint[] NOT NULL      -- sessions that may have it open
)`,
		// The version of a volume is the sum of the greatest numbers of its four lanes.
		// Transactions of a lane commit one after the other, so what a snapshot sees of a lane
		// has no gaps.
		`CREATE TABLE @version (
  lane   integer NOT NULL,
  number bigint NOT NULL,
  PRIMARY KEY (lane, number)
)`,
		`CREATE TABLE @bucket (
  one     boolean PRIMARY KEY DEFAULT true CHECK (one),
  id      uuid NOT NULL, -- of the volume, as the marker in the bucket has it
  address text           -- of the bucket; NULL if there is none
)`,
		`CREATE TABLE @object (
  name    uuid PRIMARY KEY,
  size    bigint NOT NULL,
  dropped bigint,        -- the transaction that has removed a row that named the object
  since   timestamptz,   -- when that was
  swept   boolean NOT NULL DEFAULT false, -- no row may name it any more
  gone    timestamptz    -- when it was removed from the bucket
)`,
		`CREATE INDEX ON @object (since) WHERE dropped IS NOT NULL AND NOT swept`,
		`CREATE INDEX ON @object (name) WHERE swept AND gone IS NULL`,
		`CREATE INDEX ON @data (object) WHERE object IS NOT NULL`,
		// Whatever removes a row that names an object, or gives it bytes, puts the object on the
		// list of those that the sweep looks at.
		`CREATE FUNCTION @drop_object() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
  this bigint = pg_current_xact_id()::text::bigint;
BEGIN
  UPDATE @object SET dropped = this, since = clock_timestamp() WHERE name = OLD.object AND dropped IS DISTINCT FROM this;
  IF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  IF NEW.bytes IS NOT NULL THEN
    NEW.object = NULL;
    NEW.at = NULL;
    NEW.length = NULL;
    NEW.sum = NULL;
  END IF;
  RETURN NEW;
END
$body$`,
		`CREATE TRIGGER drop_object BEFORE UPDATE OR DELETE ON @data FOR EACH ROW WHEN (OLD.object IS NOT NULL) EXECUTE FUNCTION @drop_object()`,
		`CREATE SEQUENCE @ino START 2 INCREMENT 1000 MAXVALUE 34359737368`, // blocks of a thousand numbers
		`CREATE VIEW @file AS
WITH RECURSIVE tree(path, ino, type) AS (
  SELECT encode(name, 'escape'), ino, type FROM @entry WHERE parent = 1
  UNION ALL
  SELECT tree.path || '/' || encode(e.name, 'escape'), e.ino, e.type FROM tree JOIN @entry AS e ON e.parent = tree.ino WHERE tree.type = 2
)
SELECT path, (ARRAY['file', 'dir', 'symlink', 'char', 'block', 'fifo', 'socket'])[tree.type] AS type,
  mode & 4095 AS permissions, size, to_timestamp(mtime_ns / 1e9) AS mtime, tree.ino
FROM tree JOIN @node AS n ON n.ino = tree.ino`,
		// apply changes a volume in one statement. The inodes and entries that the change depends
		// on must be as they were seen; if not, it fails with the code of a serialization failure.
		// Inodes are runs of eleven numbers. Of directories that were seen, or touched, only what
		// no other entry in them changes must be the same. The entry of a name in front of
		// gone_names is removed, the others are set; a new entry must not be there.
		//
		// There are no locks if the transaction has locked the volume. Otherwise the volume's is
		// the first. Each key is even; one more means that the transaction holds the lock alone.
		`CREATE FUNCTION @apply(
  locks bigint[],
  seen bigint[], seen_dirs bigint[], seen_entries bigint[], seen_names bytea[],
  made bigint[], changed bigint[], touched bigint[],
  gone_entries bigint[], gone_names bytea[], new_entries bigint[], new_names bytea[], put_entries bigint[], put_names bytea[],
  cuts bigint[], chunks bigint[], contents bytea[], orphans bigint[], adopted bigint[]
) RETURNS void LANGUAGE plpgsql AS $body$
DECLARE
  volume bigint = locks[1] & -2;
  own_lane integer = 1;
BEGIN
  PERFORM CASE WHEN key & 1 = 1 THEN pg_advisory_xact_lock(key & -2) ELSE pg_advisory_xact_lock_shared(key) END FROM unnest(locks) AS key;
  IF cardinality(seen) > 0 AND EXISTS (
    SELECT FROM generate_series(1, cardinality(seen), 11) AS i LEFT JOIN @node AS n ON n.ino = seen[i]
    WHERE (n.mode, n.nlink, n.uid, n.gid, n.size, n.holes, n.mtime_ns, n.ctime_ns, n.atime_ns, n.rdev) IS DISTINCT FROM (seen[i+1], seen[i+2], seen[i+3], seen[i+4], seen[i+5], seen[i+6], seen[i+7], seen[i+8], seen[i+9], seen[i+10])
  ) OR cardinality(seen_dirs) > 0 AND EXISTS (
    SELECT FROM generate_series(1, cardinality(seen_dirs), 4) AS i LEFT JOIN @node AS n ON n.ino = seen_dirs[i]
    WHERE (n.mode, n.uid, n.gid) IS DISTINCT FROM (seen_dirs[i+1], seen_dirs[i+2], seen_dirs[i+3]) OR n.nlink = 0
  ) OR cardinality(seen_entries) > 0 AND EXISTS (
    SELECT FROM unnest(seen_names) WITH ORDINALITY AS s(name, i)
    LEFT JOIN @entry AS e ON e.parent = seen_entries[2*i-1] AND e.name = s.name
    WHERE coalesce(e.ino, 0) <> seen_entries[2*i]
  ) THEN
    RAISE EXCEPTION 'the volume has changed meanwhile' USING ERRCODE = '40001';
  END IF;
  IF cardinality(made) > 0 THEN
    INSERT INTO @node (ino, mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev)
    SELECT made[i+0], made[i+1], made[i+2], made[i+3], made[i+4], made[i+5], made[i+6], made[i+7], made[i+8], made[i+9], made[i+10] FROM generate_series(1, cardinality(made), 11) AS i;
  END IF;
  IF cardinality(changed) > 0 THEN
    UPDATE @node AS n SET mode = changed[i+1], nlink = changed[i+2], uid = changed[i+3], gid = changed[i+4], size = changed[i+5], holes = changed[i+6], mtime_ns = changed[i+7], ctime_ns = changed[i+8], atime_ns = changed[i+9], rdev = changed[i+10]
    FROM generate_series(1, cardinality(changed), 11) AS i WHERE n.ino = changed[i];
  END IF;
  IF cardinality(touched) > 0 THEN
    -- A change in a directory may arrive later than another one that was made after it: the later
    -- time stays. But a time in the future, which someone has set, does not.
    UPDATE @node AS n SET nlink = nlink + touched[i+1], ctime_ns = greatest(ctime_ns, touched[i+3]),
      mtime_ns = CASE WHEN mtime_ns > ctime_ns THEN touched[i+2] ELSE greatest(mtime_ns, touched[i+2]) END
    FROM generate_series(1, cardinality(touched), 4) AS i WHERE n.ino = touched[i];
  END IF;
  IF cardinality(gone_entries) > 0 THEN
    DELETE FROM @entry AS e USING unnest(gone_entries, gone_names) AS g(parent, name) WHERE e.parent = g.parent AND e.name = g.name;
  END IF;
  IF cardinality(new_entries) > 0 THEN
    INSERT INTO @entry (parent, name, ino, type)
    SELECT new_entries[3*i-2], name, new_entries[3*i-1], new_entries[3*i] FROM unnest(new_names) WITH ORDINALITY AS g(name, i);
  END IF;
  IF cardinality(put_entries) > 0 THEN
    INSERT INTO @entry (parent, name, ino, type)
    SELECT put_entries[3*i-2], name, put_entries[3*i-1], put_entries[3*i] FROM unnest(put_names) WITH ORDINALITY AS g(name, i)
    ON CONFLICT (parent, name) DO UPDATE SET ino = excluded.ino, type = excluded.type;
  END IF;
  IF cardinality(cuts) > 0 THEN
    DELETE FROM @data AS d USING generate_series(1, cardinality(cuts), 2) AS i WHERE d.id BETWEEN cuts[i] AND cuts[i+1];
  END IF;
  IF cardinality(chunks) > 0 THEN
    INSERT INTO @data (id, bytes) SELECT * FROM unnest(chunks, contents)
    ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes;
  END IF;
  IF cardinality(orphans) > 0 THEN
    INSERT INTO @orphan (ino, waits) SELECT ino, ARRAY(SELECT id FROM @session) FROM unnest(orphans) AS u(ino)
    ON CONFLICT (ino) DO UPDATE SET waits = excluded.waits;
  END IF;
  IF cardinality(adopted) > 0 THEN
    DELETE FROM @orphan WHERE ino = ANY(adopted);
  END IF;
  IF volume IS NOT NULL THEN
    own_lane = CASE WHEN pg_try_advisory_xact_lock(volume + 2) THEN 1 WHEN pg_try_advisory_xact_lock(volume + 4) THEN 2
      WHEN pg_try_advisory_xact_lock(volume + 6) THEN 3 WHEN pg_try_advisory_xact_lock(volume + 8) THEN 4 ELSE 0 END;
    IF own_lane = 0 THEN
      own_lane = 1 + pg_backend_pid() % 4;
      PERFORM pg_advisory_xact_lock(volume + 2 * own_lane);
    END IF;
  END IF;
  INSERT INTO @version VALUES (own_lane, ` + newNumber("own_lane") + `);
END
$body$`,
		`INSERT INTO @volume (application, version) VALUES ('folio', 1)`,
		`INSERT INTO @bucket (id) VALUES (gen_random_uuid())`,
		`INSERT INTO @node SELECT 1, 16877, 2, 0, 0, 0, 0, now, now, now, 0 FROM (SELECT (extract(epoch FROM now()) * 1e9)::bigint AS now) AS t`,
		`INSERT INTO @version VALUES (1, 1)`,
	},
}

// newNumber is the number of a change in its lane. It is greater than those before it, and has 24
// random bits, so that it is a new one even if the server has lost changes in a crash, or the
// volume was restored.
func newNumber(lane string) string {
	return `((coalesce((SELECT number FROM @version WHERE lane = ` + lane + ` ORDER BY number DESC LIMIT 1), 0) >> 24) + 1 << 24) | floor(random() * 16777216)::bigint`
}

// latest is the version of the tables that this package reads and writes.
func latest() int { return len(migrations) }

// errEmpty says that there is no volume of that name.
var errEmpty = fmt.Errorf("%w: the database has no volume of that name", errNotVolume)

// errNotVolume is store.ErrNotVolume for a database of another kind.
var errNotVolume error = &notVolume{}

type notVolume struct{}

func (*notVolume) Error() string { return "not a Folio volume" }

func (*notVolume) Is(target error) bool { return target == store.ErrNotVolume }

// version returns the version of the tables, 0 if there are none.
func (schema schemaName) version(ctx context.Context, c *pgx.Conn) (int, error) {
	var tables int
	var found bool
	query := schema.tables("count(*), coalesce(bool_or(relname = 'volume'), false) FROM")
	err := c.QueryRow(ctx, query, pgx.QueryExecModeSimpleProtocol).Scan(&tables, &found)
	switch {
	case err != nil:
		return 0, err
	case tables == 0:
		return 0, nil
	case !found:
		return 0, fmt.Errorf("%w: its schema %s has tables of another application", errNotVolume, schema)
	}
	var application string
	var version int
	err = c.QueryRow(ctx, schema.in("SELECT application, version FROM @volume"), pgx.QueryExecModeSimpleProtocol).Scan(&application, &version)
	switch {
	case errors.Is(err, pgx.ErrNoRows) || codeOf(err) == codeNoColumn || err == nil && application != "folio":
		return 0, fmt.Errorf("%w: its schema %s has a table volume of another application", errNotVolume, schema)
	case err != nil:
		return 0, err
	case version > latest():
		return 0, fmt.Errorf("%w: its tables have version %d, this one reads up to %d", store.ErrNewerVersion, version, latest())
	case version < 1:
		return 0, store.Damaged("its tables have version %d, and versions count from 1", version)
	}
	return version, nil
}

// migration returns the statements that make the tables of the latest version, of nothing if
// version is 0, or of those of an older version. Programs that run them at the same time wait for
// each other. The first one succeeds, and the others fail with codeNotFirst.
func (schema schemaName) migration(version int) []string {
	late, space := fmt.Sprintf("(SELECT version FROM @volume) <> %d", version), ""
	if version == 0 { // a role without the right to make schemas can be given an empty one
		late = fmt.Sprintf("EXISTS (%s)", schema.tables("FROM"))
		space = fmt.Sprintf("IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '%s') THEN CREATE SCHEMA %s; END IF;", schema, schema.quoted())
	}
	// The number of the lock, "Foli" in ASCII, keeps it apart from locks of other programs. It must
	// stay: older programs take the same lock.
	list := []string{
		texts[beginWrite], fmt.Sprintf("SELECT pg_advisory_xact_lock(hashtextextended('%s', 1181707369))", schema),
		fmt.Sprintf("DO $$ BEGIN IF %s THEN RAISE EXCEPTION 'another program was first' USING ERRCODE = '%s'; END IF; %s END $$", late, codeNotFirst, space),
	}
	for _, statements := range migrations[version:] {
		list = append(list, statements...)
	}
	return append(list, texts[commit])
}

// tables returns a query of the tables and views in the schema.
func (schema schemaName) tables(columns string) string {
	return fmt.Sprintf("SELECT %s pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '%s') AND relkind IN ('r', 'p', 'v', 'm')", columns, schema)
}

// explainMigration tells what to do about the error of a migration from a version.
func explainMigration(err error, version int) error {
	if err == nil || version == 0 {
		return err
	}
	have := fmt.Sprintf("its tables have version %d of %d: ", version, latest())
	switch codeOf(err) {
	case codeNoRight:
		return &serverError{have + "let the role that owns them open the volume once", fs.ErrPermission, err}
	case codeReadOnly:
		return &serverError{have + "open the volume for writing once, on the primary server", store.ErrReadOnly, err}
	case codeLockTimeout:
		return &serverError{have + "programs that read or write it keep it from the newest: try again, or end them", store.ErrBusy, err}
	}
	return err
}

// alone marks a key.
const alone = 1

// lockKey is the key of the lock of the volume. The even numbers after it are those of its lanes.
func (schema schemaName) lockKey() int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(schema))
	return int64(h.Sum64() &^ 0xff)
}

// lockKeyOf is the key of the lock of an inode. Inodes that share one only wait for each other more
// often.
func (schema schemaName) lockKeyOf(ino store.Ino) int64 {
	h := (uint64(schema.lockKey()) ^ uint64(ino)) * 0x9e3779b97f4a7c15
	return int64((h ^ h>>32) &^ alone)
}
