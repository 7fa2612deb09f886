package serve

import (
	"io/fs"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
)

// put answers PUT: the file gets the content of the request as a whole, or stays as it is.
func (b *payload) put() error {
	if b.r.Header.Get("Content-Range") != "" {
		return errContentRange
	}
	if b.p.dir || b.p.name == "." {
		return folio.ErrIsDirectory
	}
	if err := b.takeMtime(); err != nil {
		return err
	}
	if err := b.beforeBody(); err != nil {
		return err
	}
	dav.CheckBody(b.r)
	if err := b.receive(); err != nil {
		return err
	}
	var info fs.FileInfo
	created := false
	err := b.update(func(tx *folio.Tx) (err error) {
		created, info, err = b.store(tx)
		return err
	})
	if err != nil {
		b.p.discard(b.temp)
		return err
	}
	b.w.Header().Set("ETag", b.p.etag(info))
	b.created(created)
	return nil
}

// store gives a file its new content, which was received.
func (b *payload) store(tx *folio.Tx) (created bool, info fs.FileInfo, err error) {
	real, old, err := b.target(tx)
	if err != nil {
		return false, nil, err
	}
	size := int64(len(b.data))
	if b.temp != "" {
		if info, err = tx.Lstat(b.temp); err != nil {
			return false, nil, err
		}
		size = info.Size()
	}
	names := 0
	if old == nil {
		names = 1
	}
	if err := b.p.share.account(tx, size, names); err != nil {
		return false, nil, err
	}
	if b.temp == "" {
		err = tx.WriteFile(real, b.data, 0o644)
	} else {
		err = adopt(tx, b.temp, real, old)
	}
	if err == nil {
		err = b.setMtime(tx, real, old)
	}
	if err != nil {
		return false, nil, err
	}
	info, err = tx.Lstat(real)
	return old == nil, info, err
}

// adopt moves a temporary file to its place. It gets the attributes of the file that it replaces.
func adopt(tx *folio.Tx, temp, real string, old fs.FileInfo) error {
	mode := fs.FileMode(0o644)
	if old != nil {
		mode = old.Mode().Perm()
		if err := tx.Lchown(temp, int(node(old).UID), int(node(old).GID)); err != nil {
			return err
		}
		if err := copyXattrs(tx, real, temp); err != nil {
			return err
		}
	}
	if err := tx.Chmod(temp, mode); err != nil {
		return err
	}
	now := time.Now()
	if err := tx.Chtimes(temp, now, now); err != nil {
		return err
	}
	return tx.Rename(temp, real)
}

func copyXattrs(tx *folio.Tx, from, to string) error {
	xattrs, err := tx.Xattrs(from)
	if err != nil {
		return err
	}
	for name, value := range xattrs {
		if err := tx.SetXattr(to, name, value); err != nil {
			return err
		}
	}
	return nil
}
