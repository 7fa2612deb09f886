package archive

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/sqlitefile"
)

// agentSchema is that of AgentFS 0.4. The tables kv_store and tool_calls are left to the program
// that uses them: its SDKs do not agree on their columns, and make them where they are missing.
var agentSchema = []string{
	"CREATE TABLE fs_config (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
	`CREATE TABLE fs_inode (ino INTEGER PRIMARY KEY AUTOINCREMENT, mode INTEGER NOT NULL, nlink INTEGER NOT NULL DEFAULT 0,
  uid INTEGER NOT NULL DEFAULT 0, gid INTEGER NOT NULL DEFAULT 0, size INTEGER NOT NULL DEFAULT 0,
  atime INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, rdev INTEGER NOT NULL DEFAULT 0,
  atime_nsec INTEGER NOT NULL DEFAULT 0, mtime_nsec INTEGER NOT NULL DEFAULT 0, ctime_nsec INTEGER NOT NULL DEFAULT 0)`,
	`CREATE TABLE fs_dentry (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, parent_ino INTEGER NOT NULL,
  ino INTEGER NOT NULL, UNIQUE (parent_ino, name))`,
	"CREATE INDEX idx_fs_dentry_parent ON fs_dentry (parent_ino, name)",
	"CREATE TABLE fs_data (ino INTEGER NOT NULL, chunk_index INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (ino, chunk_index))",
	"CREATE TABLE fs_symlink (ino INTEGER PRIMARY KEY, target TEXT NOT NULL)",
}

const (
	agentVersion   = "0.4"
	agentChunkSize = 64 << 10
)

// An agentWriter writes an AgentFS database: owners, times in nanoseconds, hard links, special
// files. A hole becomes zeros, because not every SDK of AgentFS reads one right.
type agentWriter struct {
	inodes, names, data, symlinks *sqlitefile.TableBuilder
	whiteouts                     *sqlitefile.TableBuilder // of an overlay

	o     *Options
	buf   []byte
	dirs  dirStack         // by inodes
	first map[string]int64 // inodes of files with several names, by the first one
	ids   struct{ ino, name, chunk int64 }
}

func createAgent(ctx context.Context, file string, o *Options, walk Walk) error {
	a := &agentWriter{o: o, buf: make([]byte, agentChunkSize), first: make(map[string]int64)}
	return buildDatabase(ctx, file, o, func(b *sqlitefile.Builder) (func(*source.Entry) error, error) {
		err := a.begin(b)
		if err == nil && o.Overlay != nil {
			err = a.beginOverlay(b)
		}
		return a.add, err
	}, func(fn func(*source.Entry) error) error {
		err := walk(fn)
		if err == nil && o.Overlay != nil {
			err = pathError(file, a.addWhiteouts())
		}
		return err
	})
}

func (a *agentWriter) begin(b *sqlitefile.Builder) error {
	for _, statement := range agentSchema {
		if err := b.Create(statement); err != nil {
			return err
		}
	}
	config, err := b.Table("fs_config")
	if err != nil {
		return err
	}
	for i, setting := range [][2]string{{"chunk_size", fmt.Sprint(agentChunkSize)}, {"schema_version", agentVersion}} {
		if err := config.Append(int64(i+1), setting[0], setting[1]); err != nil {
			return err
		}
	}
	for name, table := range map[string]**sqlitefile.TableBuilder{
		"fs_inode": &a.inodes, "fs_dentry": &a.names, "fs_data": &a.data, "fs_symlink": &a.symlinks,
	} {
		if *table, err = b.Table(name); err != nil {
			return err
		}
	}
	return nil
}

func (a *agentWriter) add(e *source.Entry) error {
	switch {
	case a.dirs.leavesOut(e, a.o):
		return nil
	case e.Link != "":
		return a.link(e)
	case e.Name == ".":
		a.dirs.enter(".", 1)
		return a.inode(e)
	}
	if err := a.inode(e); err != nil {
		return err
	}
	if err := a.name(e.Name, a.ids.ino); err != nil {
		return err
	}
	switch {
	case e.Mode.IsDir():
		a.dirs.enter(e.Name, a.ids.ino)
	case e.Shared:
		a.first[e.Name] = a.ids.ino
	}
	return a.content(e)
}

// link gives a file a further name.
func (a *agentWriter) link(e *source.Entry) error {
	ino, ok := a.first[e.Link]
	if !ok {
		a.o.warn(e.Name, "a hard link to a file that was left out")
		return nil
	}
	return a.name(e.Name, ino)
}

// name adds a name in the directory that it lies in.
func (a *agentWriter) name(file string, ino int64) error {
	a.ids.name++
	return a.names.Append(a.ids.name, a.ids.name, path.Base(file), a.dirs.parent(file), ino)
}

func (a *agentWriter) inode(e *source.Entry) error {
	a.ids.ino++
	mode, _ := posix.Mode(e.Mode)
	size, names := e.Size, int64(1)
	if e.Mode.Type() == fs.ModeSymlink {
		size = int64(len(e.Linkname))
	}
	if n := a.o.Names[e.ID.Ino]; e.Shared && n > 1 {
		names = n
	}
	return a.inodes.Append(
		a.ids.ino, a.ids.ino, int64(mode), names, int64(e.UID), int64(e.GID), size,
		e.AccessTime.Unix(), e.ModTime.Unix(), e.ChangeTime.Unix(), int64(e.Rdev),
		int64(e.AccessTime.Nanosecond()), int64(e.ModTime.Nanosecond()), int64(e.ChangeTime.Nanosecond()),
	)
}

// content adds the content of a regular file, and the target of a symbolic link.
func (a *agentWriter) content(e *source.Entry) error {
	switch e.Mode.Type() {
	case fs.ModeSymlink:
		return a.symlinks.Append(a.ids.ino, a.ids.ino, e.Linkname)
	case 0:
		return a.chunks(e)
	}
	return nil
}

func (a *agentWriter) chunks(e *source.Entry) error {
	for i, left := int64(0), e.Size; left > 0; i++ {
		n, err := io.ReadFull(e.Content, a.buf[:min(left, agentChunkSize)])
		if err != nil {
			return source.WrapEntry(e.Name, err)
		}
		a.ids.chunk++
		if err := a.data.Append(a.ids.chunk, a.ids.ino, i, a.buf[:n]); err != nil {
			return err
		}
		left -= int64(n)
	}
	return nil
}
