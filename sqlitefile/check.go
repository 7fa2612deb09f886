package sqlitefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/pageset"
	"github.com/foliofs/folio/internal/record"
)

// maxProblems is how many problems a report lists, as in SQLite's integrity_check.
const maxProblems = 100

// A Problem is one thing that is wrong with a database.
type Problem struct {
	Page   uint32 // the page that shows it; 0 if it is no single page
	Object string // the table or index, "freelist" or "pointer map"; "" for the database as a whole
	What   string

	// Malformed is the name of the object whose row in sqlite_schema keeps SQLite from opening the
	// database; "" for any other problem.
	Malformed string
}

func (p Problem) String() string {
	s := p.What
	if p.Page != 0 {
		s = fmt.Sprintf("page %d: %s", p.Page, s)
	}
	if p.Object != "" {
		s = p.Object + ": " + s
	}
	return s
}

// PageCounts says how the pages of a database are used.
type PageCounts struct {
	Total                        uint32
	TableInterior, TableLeaf     uint32
	IndexInterior, IndexLeaf     uint32 // including tables WITHOUT ROWID
	Overflow                     uint32
	FreeTrunk, FreeLeaf          uint32
	PointerMap, LockByte, Unused uint32
}

// A CheckReport lists the findings of Check.
type CheckReport struct {
	Problems  []Problem // the first hundred
	Partial   bool      // the check stopped at the hundredth problem, and the counts with it
	Unchecked []string  // the objects that were not checked beyond their pages, and why
	Pages     PageCounts
	Tables    int // tables and indexes that were walked, without sqlite_schema
	Indexes   int
	Rows      uint64 // of these tables
	Entries   uint64 // of these indexes
}

// OK reports whether there is no problem.
func (r *CheckReport) OK() bool { return len(r.Problems) == 0 }

// CheckOptions say how Check works. The zero value, and nil, are good defaults.
type CheckOptions struct {
	// Progress, if it is not nil, is called from time to time with the number of checked bytes, and
	// the size of the whole file.
	Progress func(done, total int64)
}

// Check looks at every page of the database, as SQLite's PRAGMA integrity_check does: each is used
// exactly once, by a b-tree, as overflow, or free; cells and free space of a page do not overlap
// and account for all of it; keys are in order and between the keys of the page above; overflow
// chains, freelist, pointer map and header agree; records are well formed, and satisfy NOT NULL,
// CHECK, UNIQUE and the types of columns; an index holds exactly the keys of the rows of its table,
// also if it is partial, on an expression or on a virtual column.
//
// It does not look at a CHECK constraint, a virtual column or an index with an expression that the
// engine does not know. The report lists the parts that were left out, and why.
//
// Faults of the database are in the report. The error comes from starting a transaction, from
// reading the file, or from ctx. The time is linear in the size of the file, the memory one bit a
// page, twice the largest key and the schema, and the values that the expressions of one row read
// and make.
func (db *DB) Check(ctx context.Context, o *CheckOptions) (r *CheckReport, err error) {
	err = db.View(ctx, func(rx *Rx) error {
		r, err = rx.Check(ctx, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Check checks the database as it is in this transaction. See [DB.Check].
func (rx *Rx) Check(ctx context.Context, o *CheckOptions) (r *CheckReport, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	c := newChecker(ctx, rx)
	if o != nil {
		c.progress = o.Progress
	}
	if err := c.run(); err != nil && !errors.Is(err, errFull) {
		return nil, err
	}
	return c.report, nil
}

// errFull ends a check whose report is full.
var errFull = errors.New("too many problems")

// A checker checks one snapshot. It believes nothing that the file says: the parts that it needs of
// a page it decodes itself.
//
// Invariants:
//
//	K1  A page is looked at only after reach has said yes to it, which it does once for each page.
//	    So every loop over pages ends, whatever they say.
//	K2  Every other loop is over the parts of one page, over the columns of one statement, or over
//	    pages that K1 counted.
//	K3  Memory is taken for bytes that were read, not for bytes that a page claims to have.
//
// Its methods return an error to stop the check; a fault of the database goes into the
// report.
type checker struct {
	rx         *Rx
	ctx        context.Context
	progress   func(done, total int64) // or nil
	report     *CheckReport
	pages      pageset.Set
	object     string // the object that is being checked, for problems
	objects    []Object
	statements *schemaCheck
	malformed  string   // the object of which statement reports something
	spans      []uint32 // room for layout
	scratch    []byte   // room for fingerprints
	seed       maphash.Seed
	longest    uint64 // bytes of a record that are assembled; a record that needs more is not compared
}

const longestKey = 8 << 20

func newChecker(ctx context.Context, rx *Rx) *checker {
	return &checker{
		rx:      rx,
		ctx:     ctx,
		report:  &CheckReport{Pages: PageCounts{Total: rx.pager.PageCount}},
		pages:   pageset.New(rx.pager.PageCount),
		seed:    maphash.MakeSeed(),
		longest: longestKey,

		statements: newSchemaCheck(rx.pager.PageCount),
	}
}

func (c *checker) run() error {
	for _, step := range []func() error{c.header, c.freelist, c.schema, c.trees, c.unused} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// header checks the numbers that only the header has. Opening the database has checked the
// rest.
func (c *checker) header() error {
	if h := &c.rx.pager.Header; h.Incremental && !h.AutoVacuum() {
		return c.problem(1, "incremental vacuum is on in a database without a pointer map")
	}
	return nil
}

// unused checks that every page has been reached.
func (c *checker) unused() error {
	c.object = ""
	counts := &c.report.Pages
	counts.PointerMap = c.pointerMaps()
	if c.rx.pager.LockPage <= c.rx.pager.PageCount {
		counts.LockByte = 1
	}
	counts.Unused = counts.Total - c.pages.Count - counts.PointerMap - counts.LockByte
	for first, last, ok := c.pages.Gap(1); ok; first, last, ok = c.pages.Gap(uint64(last) + 1) {
		for first <= last && c.reserved(first) {
			first++
		}
		for first <= last && c.reserved(last) {
			last--
		}
		if first > last {
			continue
		}
		what := "is never used"
		if first < last {
			what = fmt.Sprintf("this and all pages up to %d are never used", last)
		}
		if err := c.problem(first, what); err != nil {
			return err
		}
	}
	return nil
}

// reserved reports whether a page is there without anything that leads to it.
func (c *checker) reserved(pgno uint32) bool {
	return pgno == c.rx.pager.LockPage || c.isPointerMap(pgno)
}

// problem adds to the report. It returns errFull if that is enough.
func (c *checker) problem(pgno uint32, what string) error {
	r := c.report
	r.Problems = append(r.Problems, Problem{pgno, c.object, what, c.malformed})
	if len(r.Problems) < maxProblems {
		return nil
	}
	r.Partial = true
	return errFull
}

func (c *checker) problemf(pgno uint32, format string, args ...any) error {
	return c.problem(pgno, fmt.Sprintf(format, args...))
}

// unchecked notes a part that is left out. A schema can be long: the report names as many as
// problems.
func (c *checker) unchecked(name, why string) {
	if len(c.report.Unchecked) < maxProblems {
		c.report.Unchecked = append(c.report.Unchecked, name+": "+why)
	}
}

// page reads a page. It is not ok, and a problem, if the page is not there; an error is one of
// reading the file.
func (c *checker) page(pgno uint32) (data []byte, ok bool, err error) {
	data, err = c.rx.pager.Page(pgno)
	if corrupt, is := errors.AsType[*CorruptError](err); is {
		return nil, false, c.problem(pgno, corrupt.What)
	}
	return data, err == nil, err
}

// tick lets the caller see how far the check is, and stop it.
func (c *checker) tick() error {
	if c.progress != nil {
		size := int64(c.rx.pager.Header.PageSize)
		c.progress(int64(c.pages.Count)*size, int64(c.rx.pager.PageCount)*size)
	}
	return c.ctx.Err()
}

// encoding is the encoding of all texts.
func (c *checker) encoding() format.Encoding { return c.rx.pager.Header.Encoding }

// A fingerprint stands for a multiset of keys: it is the sum of their hashes. The fingerprint of an
// index and the fingerprint of the entries that its table's rows need are equal if they hold the
// same keys in any order and, as the seed is random, by chance else only once in 2^64. So an index
// is held against its table by reading each once.
type fingerprint struct {
	sum   uint64
	count uint64
}

func (f *fingerprint) add(seed maphash.Seed, key []byte) {
	f.sum += maphash.Bytes(seed, key)
	f.count++
}

// appendPrint appends v in a form that is the same for equal values only: numbers by value, whether
// integer or float, and texts and BLOBs by their bytes, whatever the collation.
func appendPrint(b []byte, v *record.Value) []byte {
	switch v.Kind() {
	case record.Integer:
		return appendPrintInt(b, v.Int())
	case record.Float:
		if v.Float() >= -1<<63 && v.Float() < 1<<63 && v.Float() == math.Trunc(v.Float()) {
			return appendPrintInt(b, int64(v.Float()))
		}
		return binary.BigEndian.AppendUint64(append(b, byte(record.Float)), math.Float64bits(v.Float()))
	case record.Text, record.Blob:
		b = binary.AppendUvarint(append(b, byte(v.Kind())), uint64(len(v.Bytes())))
		return append(b, v.Bytes()...)
	}
	return append(b, byte(record.Null))
}

func appendPrintInt(b []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(append(b, byte(record.Integer)), uint64(v))
}

// statement checks a row of sqlite_schema as SQLite does when it opens the database: a statement
// that it cannot parse, or that makes something else than the row says, keeps it from opening the
// database at all ("malformed database schema").
//
// The expressions of a view, and of the body of a trigger, are only split into tokens: an error in
// their grammar is found by SQLite alone.
func (c *checker) statement(o *Object, page uint32) error {
	err := c.statements.add(o)
	if err == nil {
		return nil
	}
	c.malformed = o.Name
	defer func() { c.malformed = "" }()
	return c.problem(page, malformedSchema(o, err))
}
