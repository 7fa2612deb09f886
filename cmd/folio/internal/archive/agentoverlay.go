package archive

import (
	"path"
	"unicode/utf8"

	"github.com/foliofs/folio/sqlitefile"
)

// agentOverlaySchema are the tables that make a database of AgentFS an overlay. AgentFS 0.6 makes
// whiteouts without parent_path, which its specification has: with a default, both can add rows.
//
// fs_origin stays empty. It has numbers that AgentFS gave to files of the base while it was
// mounted, so that they keep them when they are copied up. Others would confuse it.
var agentOverlaySchema = []string{
	"CREATE TABLE fs_overlay_config (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
	"CREATE TABLE fs_whiteout (path TEXT PRIMARY KEY, parent_path TEXT NOT NULL DEFAULT '', created_at INTEGER NOT NULL)",
	"CREATE INDEX idx_fs_whiteout_parent ON fs_whiteout (parent_path)",
	"CREATE TABLE fs_origin (delta_ino INTEGER PRIMARY KEY, base_ino INTEGER NOT NULL)",
}

func (a *agentWriter) beginOverlay(b *sqlitefile.Builder) error {
	for _, statement := range agentOverlaySchema {
		if err := b.Create(statement); err != nil {
			return err
		}
	}
	config, err := b.Table("fs_overlay_config")
	if err == nil {
		err = config.Append(1, "base_path", a.o.Overlay.Base)
	}
	if err == nil {
		a.whiteouts, err = b.Table("fs_whiteout")
	}
	return err
}

// addWhiteouts adds the removals. One whose name is not UTF-8 cannot be said: the file is seen
// again.
func (a *agentWriter) addWhiteouts() error {
	rowid := int64(0)
	for name, at := range a.o.Overlay.Removed {
		if !utf8.ValidString(name) {
			a.o.warn(name, "the removal of a name that is not UTF-8")
			continue
		}
		rowid++
		full := "/" + name
		if err := a.whiteouts.Append(rowid, full, path.Dir(full), at.Unix()); err != nil {
			return err
		}
	}
	return nil
}
