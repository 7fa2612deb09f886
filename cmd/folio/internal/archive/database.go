package archive

import (
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
