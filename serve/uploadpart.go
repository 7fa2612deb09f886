package serve

import (
	"context"
	"net/http"

	"github.com/tus/tusd/v2/pkg/handler"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

// Uploads in several parts at once, and those whose length is not known at their start: the
// extensions concatenation and creation-defer-length of tus.

var (
	_ handler.ConcaterDataStore       = uploadStore{}
	_ handler.LengthDeferrerDataStore = uploadStore{}
)

// AsLengthDeclarableUpload is for uploads whose length comes later.
func (s uploadStore) AsLengthDeclarableUpload(u handler.Upload) handler.LengthDeclarableUpload {
	return u.(*upload)
}

// DeclareLength sets the length of an upload.
func (u *upload) DeclareLength(ctx context.Context, length int64) error {
	u.record.Info.Size, u.record.Info.SizeIsDeferred = length, false
	return tusError(tusCallOf(ctx), u.store.withVolume(func(o *opened) error {
		return o.Update(context.WithoutCancel(ctx), func(tx *folio.Tx) error {
			if u.record.Share != "" {
				if err := (&share{record: u.record.Share}).account(tx, length, 0); err != nil && !isMissing(err) { // the share may have ended
					return err
				}
			}
			return u.save(tx)
		})
	}))
}

// AsConcatableUpload is for uploads that are made of others.
func (s uploadStore) AsConcatableUpload(u handler.Upload) handler.ConcatableUpload {
	return u.(*upload)
}

var (
	errPart  = refuse(http.StatusBadRequest, "An upload is made of parts, each once.")
	errInUse = refuse(http.StatusConflict, "Another request puts these parts together.")
)

// ConcatUploads fills the upload with the contents of others, and moves it to its place. It removes
// the others then. If it fails, the client can try again with the same parts.
func (u *upload) ConcatUploads(ctx context.Context, parts []handler.Upload) error {
	tc := tusCallOf(ctx)
	err := u.join(tc, parts)
	if err == nil {
		err = u.FinishUpload(ctx)
	}
	if err != nil {
		_ = u.Terminate(ctx) // sweep removes the rest
	}
	return tusError(tc, err)
}

// join copies the contents of the parts. A part belongs to one request at a time, so that clients
// cannot make the server write more than twice as much as they send, and its bytes must count for
// the share that the whole comes by.
func (u *upload) join(tc *tusCall, parts []handler.Upload) error {
	joined, counted := &u.store.tree.joined, ""
	if s := tc.place.share; s != nil {
		counted = s.record
	}
	for _, p := range parts {
		part := p.(*upload)
		if !part.record.Info.IsPartial || part.record.Share != counted {
			return errPart
		}
		if _, taken := joined.LoadOrStore(part.id, u.id); taken {
			return errInUse
		}
		defer joined.Delete(part.id)
		u.parts = append(u.parts, part)
	}
	return u.store.withVolume(func(o *opened) error {
		to, err := o.OpenFile(u.content(), posix.WriteOnly, 0)
		if err != nil {
			return err
		}
		defer to.Close()
		buf, release := tc.s.buffers.get(u.record.Info.Size)
		defer release()
		offset := int64(0)
		for _, part := range u.parts {
			n, err := part.copyTo(o, to, offset, buf)
			if err != nil {
				return err
			}
			offset += n
		}
		return nil
	})
}

// copyTo copies the content of a part.
func (u *upload) copyTo(o *opened, to *folio.File, offset int64, buf []byte) (int64, error) {
	from, err := o.Open(u.content())
	if err != nil {
		return 0, err
	}
	defer from.Close()
	return appendAll(to, offset, from, buf)
}
