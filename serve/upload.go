package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/tus/tusd/v2/pkg/handler"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

// An uploadStore keeps the uploads of a tree in its volume: the content of each in a file, and what
// tus knows of it in another, ID.info. How far an upload has come is the size of the file, so what
// was acknowledged outlives the server. The last step moves the file to its place.
type uploadStore struct{ tree *tree }

var (
	_ handler.DataStore           = uploadStore{}
	_ handler.TerminaterDataStore = uploadStore{}
)

// An uploadRecord is the content of ID.info.
type uploadRecord struct {
	Info handler.FileInfo
	User string // who may go on with it; "" means everybody who knows the ID, which is too long to be guessed
	// Target is the path of the file, as find takes it, or below the link by which the upload came.
	// Like Done it is for a server that was started again.
	Target []byte
	// Link is the name of the record of that link, or "". The token of the link is not kept.
	Link string
	Done bool // the file is in its place
	// Share is the path of the record of the share that the bytes of the upload count for, or "".
	Share string
}

// An upload is one of a tree.
type upload struct {
	store  uploadStore
	id     string
	record uploadRecord
	parts  []*upload // whose contents it has, and which are removed with its last step
}

func (u *upload) content() string { return u.store.tree.own(uploadDir, u.id) }

// withVolume calls fn with the volume of the tree.
func (s uploadStore) withVolume(fn func(o *opened) error) error {
	o, err := s.tree.acquire()
	if err != nil {
		return err
	}
	defer o.release()
	return fn(o)
}

// NewUpload makes an upload for the place of a call.
func (s uploadStore) NewUpload(ctx context.Context, info handler.FileInfo) (handler.Upload, error) {
	tc := tusCallOf(ctx)
	info.ID = cmp.Or(tc.id, newID())
	u := &upload{store: s, id: info.ID, record: uploadRecord{Info: info, User: tc.call.user, Target: []byte(tc.place.target)}}
	if link := tc.place.share; link != nil {
		u.record.Target, u.record.Link = []byte(tc.place.name), path.Base(link.record)
		u.record.Info.MetaData = keptOf(info.MetaData)
	}
	err := s.withVolume(func(o *opened) error {
		return o.Update(context.WithoutCancel(ctx), func(tx *folio.Tx) error {
			if err := u.reserve(tx, tc.place.share); err != nil {
				return err
			}
			if err := tx.MkdirAll(s.tree.own(uploadDir), 0o700); err != nil {
				return err
			}
			f, err := tx.OpenFile(u.content(), posix.WriteOnly|posix.Create|posix.Exclusive, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return errTwin
			}
			if err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
			if err := s.tree.uploads.add(tx, u); err != nil {
				return err
			}
			return u.save(tx)
		})
	})
	return u, tusError(tc, err)
}

// reserve counts the bytes and the name of a new upload for the share that it comes by. The
// bytes of an upload that is made of parts count already: each part has counted its own.
func (u *upload) reserve(tx *folio.Tx, s *share) error {
	if s == nil || u.record.Info.IsFinal {
		return nil
	}
	if u.record.Info.SizeIsDeferred && s.MaxSize > 0 {
		return errNoLength
	}
	u.record.Share = s.record
	return s.account(tx, u.record.Info.Size, 1)
}

var errNoLength = refuse(http.StatusLengthRequired, "This link is for a number of bytes, so an upload must say its length.")

func (u *upload) save(tx *folio.Tx) error {
	text, err := json.Marshal(&u.record)
	if err != nil {
		return err
	}
	return tx.WriteFile(u.content()+".info", text, 0o600)
}

// GetUpload returns an upload of the user.
func (s uploadStore) GetUpload(ctx context.Context, id string) (handler.Upload, error) {
	if _, ok := idTime(id); !ok {
		return nil, handler.ErrNotFound
	}
	tc := tusCallOf(ctx)
	u := &upload{store: s, id: id}
	err := s.withVolume(func(o *opened) error {
		return o.View(ctx, func(rx *folio.Rx) error { return u.load(rx) })
	})
	if isMissing(err) || err == nil && u.record.User != tc.call.user {
		return nil, handler.ErrNotFound
	}
	if err == nil && u.complete() && !u.record.Done && tc.call.r.Method != http.MethodDelete {
		err = u.FinishUpload(ctx) // the server died between the last byte and this
	}
	return u, tusError(tc, err)
}

// complete reports whether all bytes have arrived. An upload that is made of parts is complete only
// in the request that joins them, which then finishes it.
func (u *upload) complete() bool {
	i := &u.record.Info
	return i.Offset == i.Size && !i.SizeIsDeferred && !i.IsFinal
}

// load reads the record of an upload. The length of the content says how far the upload has come,
// so a byte that was written counts even if the server died before it changed the record.
func (u *upload) load(rx *folio.Rx) error {
	text, err := rx.ReadFile(u.content() + ".info")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &u.record); err != nil {
		return err
	}
	u.record.Info.Offset = u.record.Info.Size
	if u.record.Done {
		return nil
	}
	info, err := rx.Lstat(u.content())
	if err == nil {
		u.record.Info.Offset = info.Size()
	}
	return err
}

// GetInfo returns tus's description of the upload.
func (u *upload) GetInfo(context.Context) (handler.FileInfo, error) { return u.record.Info, nil }

// GetReader is for downloads, which there are not.
func (u *upload) GetReader(context.Context) (io.ReadCloser, error) {
	return nil, handler.ErrNotImplemented
}

// WriteChunk adds the bytes of a client to the upload. Written bytes are acknowledged and kept,
// even if the client or the server dies.
func (u *upload) WriteChunk(ctx context.Context, offset int64, src io.Reader) (written int64, err error) {
	tc := tusCallOf(ctx)
	if most := tc.s.options.MaxBody; most > 0 && offset+tc.r.ContentLength > most {
		return 0, handler.ErrMaxSizeExceeded // tusd looks only if the request does not say its length
	}
	err = u.store.withVolume(func(o *opened) error {
		f, err := o.OpenFile(u.content(), posix.WriteOnly, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		size := u.record.Info.Size
		if u.record.Info.SizeIsDeferred {
			size = -1
		}
		buf, release := tc.call.s.buffers.get(size)
		defer release()
		written, err = appendAll(f, offset, src, buf)
		return err
	})
	return written, tusError(tc, err)
}

// appendAll writes a reader to a file. It writes all bytes that came before it returns the reader's
// error.
func appendAll(f *folio.File, offset int64, src io.Reader, buf []byte) (written int64, err error) {
	for err == nil {
		var n int
		n, err = readFull(src, buf)
		if n == 0 {
			break
		}
		if _, writeErr := f.WriteAt(buf[:n], offset+written); writeErr != nil {
			return written, writeErr
		}
		written += int64(n)
	}
	if err == io.EOF {
		err = nil
	}
	return written, err
}

// FinishUpload moves the file to its place, by one transaction. A part of an upload has none.
func (u *upload) FinishUpload(ctx context.Context) error {
	tc := tusCallOf(ctx)
	if u.record.Done || u.record.Info.IsPartial {
		return nil
	}
	p, err := tc.call.findTarget(&u.record)
	if err != nil {
		return tusError(tc, err)
	}
	defer p.release()
	err = p.vol.Update(context.WithoutCancel(ctx), func(tx *folio.Tx) error { return u.place(&change{call: tc.call, p: p}, tx) })
	if err == nil {
		for _, done := range append(u.parts, u) {
			u.store.tree.uploads.drop(done)
		}
	}
	return tusError(tc, err)
}

// findTarget returns the place that an upload is for. The caller must release it.
func (c *call) findTarget(r *uploadRecord) (*place, error) {
	if r.Link == "" {
		return c.find(string(r.Target))
	}
	return c.findRecord(&place{root: c.s.base, name: "."}, r.Link, string(r.Target))
}

// keptOf returns the metadata that is kept of an upload by a link. It leaves out values that could
// hold the link's token.
func keptOf(meta handler.MetaData) handler.MetaData {
	kept := make(handler.MetaData)
	for _, name := range []string{"path", "overwrite", "modified", "type", "filetype"} {
		if value, ok := meta[name]; ok {
			kept[name] = value
		}
	}
	return kept
}

// place moves the file to its place in a transaction.
func (u *upload) place(c *change, tx *folio.Tx) error {
	p := c.p
	meta := u.record.Info.MetaData
	if err := c.mayUpload(tx, meta["overwrite"] != ""); err != nil {
		return err
	}
	if err := c.makeParents(tx); err != nil {
		return err
	}
	real, old, err := p.lookup(tx, p.name, true, rightUpload)
	if err != nil {
		return err
	}
	if err := adopt(tx, u.content(), real, old); err != nil {
		return err
	}
	if ms, err := strconv.ParseInt(meta["modified"], 10, 64); err == nil && ms > 0 {
		at := time.UnixMilli(ms)
		if err := tx.Chtimes(real, at, at); err != nil {
			return err
		}
	}
	for _, part := range u.parts {
		if _, err := tx.Lstat(part.content()); err != nil {
			return err // the client gave it up meanwhile, so its bytes no longer count
		}
		if err := removeUpload(tx, part.content()); err != nil {
			return err
		}
	}
	if len(u.parts) > 0 {
		if err := p.share.account(tx, 0, 1-len(u.parts)); err != nil {
			return err
		}
	}
	u.record.Done = true
	u.record.Info.MetaData, u.record.Info.PartialUploads, u.record.Target = nil, nil, nil // no one needs them any more
	return u.save(tx)
}

// AsTerminatableUpload is for DELETE.
func (s uploadStore) AsTerminatableUpload(u handler.Upload) handler.TerminatableUpload {
	return u.(*upload)
}

// Terminate removes an upload.
func (u *upload) Terminate(ctx context.Context) error {
	err := u.store.withVolume(func(o *opened) error { return o.Update(context.WithoutCancel(ctx), u.forget) })
	if err == nil {
		u.store.tree.uploads.drop(u)
	}
	return tusError(tusCallOf(ctx), err)
}

// forget removes all records of an upload. If it is not in its place, its bytes no longer count.
func (u *upload) forget(tx *folio.Tx) error {
	err := u.load(&tx.Rx)
	if err != nil && !isMissing(err) {
		return err
	}
	if u.record.Share != "" && !u.record.Done {
		s := &share{record: u.record.Share}
		if err := s.account(tx, -u.record.Info.Size, -1); err != nil && !isMissing(err) { // the share may have ended
			return err
		}
	}
	return removeUpload(tx, u.content())
}

// removeUpload removes the files of an upload.
func removeUpload(tx *folio.Tx, content string) error {
	for _, name := range []string{content, content + ".info"} {
		if err := tx.Remove(name); err != nil && !isMissing(err) {
			return err
		}
	}
	return nil
}
