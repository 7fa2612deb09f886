package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// pageSize is the page size with which docs/reference/format.md found volumes fastest.
const pageSize = 4096

// create makes a volume of an empty database. If another process does so at the same time, one of
// them finds that it is done.
func (s *Store) create(ctx context.Context) error {
	empty, err := isEmpty(s.probe.conn)
	if err != nil || !empty {
		return explain(err)
	}
	w, err := s.enterWriter(ctx)
	if err != nil {
		return err
	}
	defer s.leaveWriter()
	if w.conn, err = s.connect(ctx, fmt.Sprint("PRAGMA page_size = ", pageSize), "PRAGMA synchronous = NORMAL"); err != nil {
		return explain(err)
	}
	if err := s.retry(ctx, w.useLog); err != nil {
		return explain(err)
	}
	return w.transact(ctx, func(c *conn) error {
		empty, err := isEmpty(c)
		if err != nil || !empty {
			return explain(err)
		}
		return fillEmpty(c)
	})
}

// isEmpty reports whether a database was never used.
func isEmpty(c *conn) (bool, error) {
	var tables, application int64
	if err := c.ask("SELECT count(*) FROM sqlite_master", &tables); err != nil {
		return false, err
	}
	err := c.ask("PRAGMA application_id", &application)
	return tables == 0 && application == 0, err
}

// fillEmpty makes the tables and the root.
func fillEmpty(c *conn) error {
	header := []string{
		fmt.Sprint("PRAGMA application_id = ", store.ApplicationID),
		fmt.Sprint("PRAGMA user_version = ", store.SchemaVersion),
	}
	for _, query := range append(header, store.Schema...) {
		if err := c.run(query); err != nil {
			return explain(err)
		}
	}
	now := time.Now().UnixNano()
	root := store.Node{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 2, Mtime: now, Ctime: now, Atime: now}
	_, err := c.exec(insertNode, nodeValues(&root)...)
	return err
}
