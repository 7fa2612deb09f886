package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foliofs/folio/sqlitefile"
)

// An agentSource is an AgentFS database, by its specification of version 0.4 or before:
//
//	fs_config(key, value)                          chunk_size, schema_version
//	fs_inode(ino, mode, uid, gid, size, ...)       1 is the root; times in seconds
//	fs_dentry(parent_ino, name, ino)               names
//	fs_data(ino, chunk_index, data)                contents, in chunks of chunk_size
//	fs_symlink(ino, target)
//
// Version 0.4 added rdev and the nanoseconds of times to fs_inode, as columns with the endings
// _nsec. A chunk that is missing or short is a hole: AgentFS reads zeros there. The tables kv_store
// and tool_calls hold no files and are left out.
//
// In a database that is an overlay, fs_overlay_config names the directory below it, and fs_whiteout
// the paths that were removed from there. See layers.
type agentSource struct {
	db   *sqlitefile.DB
	o    *Options
	base bool // o.Base is the directory below
}

// The tables of AgentFS.
const (
	agentConfig    = "fs_config"
	agentInodes    = "fs_inode"
	agentNames     = "fs_dentry"
	agentData      = "fs_data"
	agentSymlinks  = "fs_symlink"
	agentOverlay   = "fs_overlay_config"
	agentWhiteouts = "fs_whiteout"
)

const (
	agentRoot      = 1
	agentChunkSize = 4096 // unless fs_config says otherwise
	maxAgentChunk  = 1 << 30
)

// agentVersions are the versions that this package knows. A database of before 0.4 does not say its
// own.
var agentVersions = []string{"", "0.0", "0.1", "0.2", "0.3", "0.4"}

// A VersionError says that an AgentFS database is of a version that is not known here.
type VersionError struct{ Version string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("is an AgentFS database of version %s, and only 0.1 to 0.4 are known here", strconv.Quote(e.Version))
}

// An OverlayError says that an AgentFS database holds only the changes of a directory.
type OverlayError struct{ Base string }

func (e *OverlayError) Error() string {
	return "holds only what AgentFS has changed in " + e.Base
}

func openAgent(db *sqlitefile.DB, rx *sqlitefile.Rx, o *Options) (Source, error) {
	s := &agentSource{db: db, o: o, base: o.Base != ""}
	t, err := openAgentTables(rx)
	if err != nil {
		return nil, err
	}
	base, overlay, err := t.setting(agentOverlay, "base_path")
	switch {
	case err != nil:
		return nil, err
	case overlay && o.Base == "" && !o.ChangesOnly:
		return nil, &OverlayError{Base: base}
	}
	s.base = s.base && overlay
	return s, nil
}

func (s *agentSource) OnDisk() bool { return false }

func (s *agentSource) Size(context.Context) (int64, bool) { return 0, false }

func (s *agentSource) Close() error { return s.db.Close() }

func (s *agentSource) Walk(ctx context.Context, fn func(*Entry) error) error {
	if !s.base {
		return s.walk(ctx, nil, fn)
	}
	l := newLayers(s.o, fn)
	if err := s.walk(ctx, l, l.add); err != nil {
		return err
	}
	return l.walkBase(ctx)
}

// walk calls fn for the entries of the database. l, if it is not nil, learns what was removed from
// the base.
func (s *agentSource) walk(ctx context.Context, l *layers, fn func(*Entry) error) error {
	return run(ctx, s.o, false, func(p *pipeline) error {
		return s.db.View(p.ctx, func(rx *sqlitefile.Rx) error {
			if err := checkDatabase(p.ctx, rx); err != nil {
				return err
			}
			t, err := openAgentTables(rx)
			if err != nil {
				return err
			}
			gone, err := t.whiteouts()
			if err != nil {
				return err
			}
			if l != nil {
				l.gone = gone
			} else if len(gone) > 0 {
				s.o.warn(agentWhiteouts, "removals from the base, "+strconv.Itoa(len(gone))+" in all")
			}
			if err := t.warnOthers(s.o); err != nil {
				return err
			}
			return (&agentProducer{pipeline: p, agentTables: t, first: make(map[int64]*place)}).walk()
		})
	}, fn)
}

// agentTables are the tables and indexes of the database, and the places of their columns.
type agentTables struct {
	rx                             *sqlitefile.Rx
	inodes, names, data, symlinks  sqlitefile.Table
	namesByDir, dataByChunk        sqlitefile.Index
	inode                          agentInodeColumns
	nameName, nameIno, dataContent int
	linkTarget                     int
	chunkSize                      int64
}

// agentInodeColumns are the places of the columns of fs_inode; -1 if there is no such column.
type agentInodeColumns struct {
	mode, uid, gid, size, rdev int
	seconds, nanoseconds       [3]int // of atime, mtime, ctime
}

func openAgentTables(rx *sqlitefile.Rx) (t agentTables, err error) {
	t.rx = rx
	if err := t.checkVersion(); err != nil {
		return t, err
	}
	if err := t.open(); errors.Is(err, sqlitefile.ErrNoTable) || errors.Is(err, sqlitefile.ErrNoColumn) || errors.Is(err, sqlitefile.ErrNoIndex) {
		return t, fmt.Errorf("%w: %w", ErrDatabase, err)
	} else if err != nil {
		return t, err
	}
	return t, t.readChunkSize()
}

func (t *agentTables) open() (err error) {
	for _, table := range []struct {
		to   *sqlitefile.Table
		name string
	}{{&t.inodes, agentInodes}, {&t.names, agentNames}, {&t.data, agentData}, {&t.symlinks, agentSymlinks}} {
		if *table.to, err = t.rx.Table(table.name); err != nil {
			return err
		}
	}
	for _, column := range []struct {
		to    *int
		table sqlitefile.Table
		name  string
	}{
		{&t.nameName, t.names, "name"},
		{&t.nameIno, t.names, "ino"},
		{&t.dataContent, t.data, "data"},
		{&t.linkTarget, t.symlinks, "target"},
		{&t.inode.mode, t.inodes, "mode"},
		{&t.inode.uid, t.inodes, "uid"},
		{&t.inode.gid, t.inodes, "gid"},
		{&t.inode.size, t.inodes, "size"},
		{&t.inode.seconds[0], t.inodes, "atime"},
		{&t.inode.seconds[1], t.inodes, "mtime"},
		{&t.inode.seconds[2], t.inodes, "ctime"},
	} {
		if *column.to, err = column.table.Column(column.name); err != nil {
			return err
		}
	}
	t.inode.rdev = t.optional("rdev")
	t.inode.nanoseconds = [3]int{t.optional("atime_nsec"), t.optional("mtime_nsec"), t.optional("ctime_nsec")}
	if t.namesByDir, err = t.rx.IndexOn(agentNames, "parent_ino", "name"); err != nil {
		return err
	}
	t.dataByChunk, err = t.rx.IndexOn(agentData, "ino", "chunk_index")
	return err
}

func (t *agentTables) optional(column string) int {
	if i, err := t.inodes.Column(column); err == nil {
		return i
	}
	return -1
}

func (t *agentTables) checkVersion() error {
	version, _, err := t.setting(agentConfig, "schema_version")
	if err != nil {
		return err
	}
	if !slices.Contains(agentVersions, version) {
		return &VersionError{Version: version}
	}
	return nil
}

func (t *agentTables) readChunkSize() error {
	t.chunkSize = agentChunkSize
	text, ok, err := t.setting(agentConfig, "chunk_size")
	if err != nil || !ok {
		return err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > maxAgentChunk {
		return fmt.Errorf("%w: chunk_size is %s", ErrDamaged, strconv.Quote(text))
	}
	t.chunkSize = n
	return nil
}

// setting returns a value of a table of keys and values. ok is false if there is none, or no such
// table.
func (t *agentTables) setting(table, key string) (value string, ok bool, err error) {
	settings, err := t.rx.Table(table)
	if errors.Is(err, sqlitefile.ErrNoTable) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	for row, err := range settings.All() {
		if err != nil {
			return "", false, err
		}
		var k string
		err := short(&row, 0, 1)
		if err == nil {
			err = row.Scan(&k, &value)
		}
		if err != nil {
			return "", false, err
		}
		if k == key {
			return value, true, nil
		}
	}
	return "", false, nil
}

// whiteouts returns the paths that were removed from the base.
func (t *agentTables) whiteouts() (map[string]bool, error) {
	table, err := t.rx.Table(agentWhiteouts)
	if errors.Is(err, sqlitefile.ErrNoTable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at, err := table.Column("path")
	if err != nil {
		return nil, err
	}
	gone := make(map[string]bool)
	for row, err := range table.All() {
		if err != nil {
			return nil, err
		}
		if err := short(&row, at); err != nil {
			return nil, err
		}
		path, err := row.Text(at)
		if err != nil {
			return nil, err
		}
		name, err := cleanName(strings.TrimPrefix(path, "/") + "/")
		if err != nil {
			return nil, WrapEntry(path, err)
		}
		gone[name] = true
	}
	return gone, nil
}

// agentOthers are the tables that hold no files, with what they hold.
var agentOthers = []struct{ table, what string }{
	{"kv_store", "keys and values of AgentFS"},
	{"tool_calls", "calls of tools that AgentFS has noted"},
}

// warnOthers tells about tables that the volume does not get, if they have rows.
func (t *agentTables) warnOthers(o *Options) error {
	for _, other := range agentOthers {
		table, err := t.rx.Table(other.table)
		if errors.Is(err, sqlitefile.ErrNoTable) {
			continue
		}
		if err != nil {
			return err
		}
		if ok, err := table.Cursor().First(); err != nil {
			return err
		} else if ok {
			o.warn(other.table, other.what)
		}
	}
	return nil
}
