package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/foliofs/folio/internal/bulk"
	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/extsort"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/pager"
	"github.com/foliofs/folio/internal/reserve"
)

// BuildOptions say how a database is built. The zero value, and nil, are good defaults.
type BuildOptions struct {
	// PageSize is a power of two from 512 to 65536; 0 means 4096.
	PageSize int
	// ReservedBytes is how many bytes at the end of each page stay unused; 480 must be left.
	ReservedBytes int
	// ApplicationID and UserVersion go into the header, for PRAGMA application_id and user_version.
	ApplicationID uint32
	UserVersion   int32
	// Replace allows path to exist: a database there is replaced when the new one is complete. It
	// must not be in use. The new one gets the permissions of the old one, and its owner and group
	// as far as the system allows it.
	Replace bool
	// NoSync leaves it to the system when the database reaches the disk: a power cut may leave an
	// incomplete one at path.
	NoSync bool
	// SortMemory is how many bytes the keys of indexes may take in memory while they are sorted; 0
	// means 64 MiB.
	SortMemory int
	// TempDir is where keys go that do not fit into SortMemory; "" means the directory of path.
	TempDir string

	private   bool   // the temporary file is for this user only
	firstPage uint32 // the first page handed out, for tests beyond the lock page; 0 means 2
}

// resolve fills in the defaults and refuses options that no file can have.
func (o *BuildOptions) resolve(path string) (r BuildOptions, err error) {
	if o != nil {
		r = *o
	}
	if r.PageSize == 0 {
		r.PageSize = pager.DefaultPageSize
	}
	if r.SortMemory == 0 {
		r.SortMemory = defaultSortMemory
	}
	if r.TempDir == "" {
		r.TempDir = filepath.Dir(path)
	}
	if r.firstPage == 0 {
		r.firstPage = 2
	}
	switch {
	case r.PageSize < format.MinPageSize || r.PageSize > format.MaxPageSize || r.PageSize&(r.PageSize-1) != 0:
		err = fmt.Errorf("page size %d is not a power of two from 512 to 65536", r.PageSize)
	case r.ReservedBytes < 0 || r.ReservedBytes > 255 || r.PageSize-r.ReservedBytes < format.MinUsableSize:
		err = fmt.Errorf("%d reserved bytes in pages of %d", r.ReservedBytes, r.PageSize)
	}
	return r, err
}

// A Builder makes one new database. It is valid within the function given to Build, and not safe
// for concurrent use.
//
// An error of Create, or of a TableBuilder, makes the whole build fail, whether or not the function
// returns it.
type Builder struct {
	path     string
	options  BuildOptions
	ctx      context.Context
	target   *buildTarget
	out      *bulk.File
	space    *extsort.Space
	objects  []*buildObject          // in the order of their creation
	names    map[string]*buildObject // by folded name
	tables   map[string]*TableBuilder
	sequence *TableBuilder // sqlite_sequence, if there is one
	err      error         // the first one
	over     bool
}

// Build makes a new database at path: fn creates its tables and appends their rows, in the order of
// their keys, to any number of tables in turn; every index is derived. All pages are full, and
// written once, in order.
//
// The database appears at path complete and durable, or not at all: it is a temporary file next to
// it until then. An existing file is fs.ErrExist unless o.Replace. Build fails with the error of
// fn, of the Builder, or of ctx; it notices a cancelled ctx at least once for each megabyte of
// output. A failure of the file is an *fs.PathError with path; a row that breaks a constraint is
// ErrConstraint, and a statement that asks for something that the builder cannot keep true (CHECK,
// generated columns, triggers of tables, virtual tables, partial and expression indexes, unknown
// collations) is ErrUnsupported and names it.
//
// Foreign keys are not checked, as in SQLite without PRAGMA foreign_keys, and ON CONFLICT clauses
// do not apply.
func Build(ctx context.Context, path string, o *BuildOptions, fn func(b *Builder) error) (err error) {
	b, err := newBuilder(ctx, path, o)
	if err != nil {
		return buildError(path, err)
	}
	defer b.close(&err)
	if err := fn(b); err != nil {
		return err
	}
	if b.err != nil {
		return b.err
	}
	return buildError(path, b.finish())
}

func newBuilder(ctx context.Context, path string, o *BuildOptions) (*Builder, error) {
	options, err := o.resolve(path)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	target, err := newTarget(path, &options)
	if err != nil {
		return nil, err
	}
	return &Builder{
		path: path, options: options, ctx: ctx, target: target,
		names: map[string]*buildObject{}, tables: map[string]*TableBuilder{},
		out:   bulk.NewFile(ctx, target.tmp, bulk.Layout{PageSize: options.PageSize, Reserved: options.ReservedBytes, First: options.firstPage, Lazy: options.NoSync}),
		space: extsort.New(ctx, options.TempDir, options.SortMemory),
	}, nil
}

// buildError names path and not the temporary file.
func buildError(path string, err error) error {
	if err == nil {
		return nil
	}
	op := "build"
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		op, err = pe.Op, pe.Err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// Create runs one CREATE TABLE, CREATE INDEX or CREATE VIEW. An index must be created before the
// first row of its table. The SELECT of a view is not checked: SQLite refuses a database with one
// that it cannot parse.
//
// The error gives the place of a mistake in the statement, is ErrUnsupported, or reports a name
// that exists or is missing.
func (b *Builder) Create(sql string) error {
	if err := b.usable(); err != nil {
		return err
	}
	if err := b.create(sql); err != nil {
		return b.fail(err)
	}
	return nil
}

// Table returns the table with a name, without regard to case, or ErrNoTable.
func (b *Builder) Table(name string) (*TableBuilder, error) {
	if err := b.usable(); err != nil {
		return nil, err
	}
	t := b.tables[ddl.Fold(name)]
	if t == nil {
		return nil, buildError(b.path, fmt.Errorf("%w: %s", ErrNoTable, name))
	}
	return t, nil
}

// usable returns the error that made the build fail, or ErrClosed when it is over.
func (b *Builder) usable() error {
	if b.over {
		return ErrClosed
	}
	return b.err
}

// fail makes the build fail.
func (b *Builder) fail(err error) error {
	b.err = buildError(b.path, err)
	return b.err
}

// finish writes the rest: the right spines of the tables, the indexes, the schema; and names
// the file.
func (b *Builder) finish() error {
	b.space.Prepare()
	if err := b.writeSequence(); err != nil {
		return err
	}
	for _, o := range b.objects {
		if err := b.finishObject(o); err != nil {
			return err
		}
	}
	page1, err := b.writeSchema()
	if err != nil {
		return err
	}
	if err := b.out.Finish(page1); err != nil {
		return err
	}
	reserve.Keep(b.target.tmp)
	return b.target.place()
}

func (b *Builder) finishObject(o *buildObject) (err error) {
	switch {
	case o.rows != nil:
		o.root, err = o.rows.tree.Finish()
	case o.index != nil:
		o.root, err = o.index.build(b.out)
	}
	return err
}

// close ends the goroutines and removes temporary files. It runs in any case, a panic in fn
// included.
func (b *Builder) close(err *error) {
	b.over = true
	written, sorted, removed := b.out.Stop(), b.space.Close(), b.target.tmp.Discard()
	*err = cmp.Or(*err, buildError(b.path, cmp.Or(written, sorted, removed)))
}
