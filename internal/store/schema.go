package store

// The format of a volume. docs/reference/format.md specifies it for other programs.

// These numbers in the header of a database identify a volume.
const (
	ApplicationID = 0x466F6C69 // PRAGMA application_id: "Foli"
	SchemaVersion = 1          // PRAGMA user_version, unless files share content: CloneVersion
)

// Contents are stored in chunks, one in a row of table data, whose id tells the inode and the
// place.
const (
	ChunkShift = 16
	ChunkSize  = 1 << ChunkShift // bytes
	ChunkBits  = 28              // of a data row's id, the lowest
)

// DataID returns the id of the data row for the chunk that holds the byte at off.
func DataID(ino Ino, off int64) int64 { return int64(ino)<<ChunkBits | off>>ChunkShift }

// Limits.
const (
	MaxIno  Ino = 1<<(63-ChunkBits) - 1 // so that the ids of data rows are positive
	MaxSize     = 1 << (ChunkShift + ChunkBits)
	// MaxName is the longest name in bytes: 255 characters of UTF-16, which some systems allow,
	// take as much in UTF-8.
	MaxName = 3 * 255
	// MaxXattrName is the longest name of an extended attribute in bytes, MaxXattrValue the longest
	// value, and MaxXattrs limits the bytes of all names and values of an inode together.
	MaxXattrName  = 255
	MaxXattrValue = 1 << 16
	MaxXattrs     = 16 << 20
	// MaxPath is the longest path in bytes, and the longest target of a symbolic link.
	MaxPath = 1<<15 - 1
)

// ValidName reports whether a directory can hold an entry of that name: bytes other than '/' and
// NUL, up to MaxName of them, but not "." and "..".
func ValidName[T string | []byte](name T) bool {
	if len(name) == 0 || len(name) > MaxName || string(name) == "." || string(name) == ".." {
		return false
	}
	for i := range len(name) {
		if name[i] == '/' || name[i] == 0 {
			return false
		}
	}
	return true
}

// Schema lists the statements that create an empty volume's tables and views.
// docs/reference/format.md explains them. The comments in them are part of the output of sqlite3's
// .schema.
var Schema = append([]string{
	`CREATE TABLE node (
  ino      INTEGER PRIMARY KEY,  -- 1 is the root
  mode     INTEGER NOT NULL,     -- POSIX st_mode
  nlink    INTEGER NOT NULL,
  uid      INTEGER NOT NULL,
  gid      INTEGER NOT NULL,
  size     INTEGER NOT NULL,     -- bytes
  holes    INTEGER NOT NULL,     -- bytes of size that no data row holds: zeros
  mtime_ns INTEGER NOT NULL,     -- since 1970 UTC
  ctime_ns INTEGER NOT NULL,
  atime_ns INTEGER NOT NULL,
  rdev     INTEGER NOT NULL
)`,
	`CREATE TABLE entry (
  parent INTEGER NOT NULL,
  name   TEXT NOT NULL,
  ino    INTEGER NOT NULL,
  type   INTEGER NOT NULL,       -- 1 file, 2 dir, 3 symlink, 4 char, 5 block, 6 fifo, 7 socket
  PRIMARY KEY (parent, name)
) WITHOUT ROWID`,
	`CREATE TABLE data (
  id    INTEGER PRIMARY KEY,     -- ino<<28 | chunk
  bytes BLOB NOT NULL            -- content from byte chunk<<16 on, at most 65536 bytes
)`,
	`CREATE TABLE xattr (
  ino   INTEGER NOT NULL,
  name  TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (ino, name)
) WITHOUT ROWID`,
	`CREATE TABLE orphan (
  ino INTEGER PRIMARY KEY        -- has no name, but may be in use
)`,
}, FileStatements...)
