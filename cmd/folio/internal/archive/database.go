package archive

import (
	"bytes"
	"context"
	"errors"

	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/sqlitefile"
)

// buildDatabase makes an archive that is a database. begin makes its tables, and returns the
// function that adds an entry. An error of that function is about the database, unless it is an
// *source.EntryError.
func buildDatabase(
	ctx context.Context, path string, o *Options,
	begin func(b *sqlitefile.Builder) (add func(*source.Entry) error, err error), walk Walk,
) error {
	var own error
	err := sqlitefile.Build(ctx, path, &sqlitefile.BuildOptions{Replace: o.Replace}, func(b *sqlitefile.Builder) error {
		add, err := begin(b)
		if err != nil {
			return err
		}
		own = walk(func(e *source.Entry) error {
			err := add(e)
			if _, ok := errors.AsType[*source.EntryError](err); ok {
				return err
			}
			return pathError(path, err)
		})
		return own
	})
	if own != nil {
		return own
	}
	return pathError(path, err)
}

// A value is a content as one value of a database.
type value struct{ bytes.Buffer }

// reset empties it, with room for a content: one that grew would take up to three times as much.
// The empty content is a value, too, and not NULL.
func (v *value) reset(size int64) {
	v.Reset()
	if int64(v.Cap()) < max(size, 1) {
		v.Buffer = *bytes.NewBuffer(make([]byte, 0, max(size, 1)))
	}
}
