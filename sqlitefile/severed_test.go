package sqlitefile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/faultfs"
)

var severedStride = flag.Int("severed.stride", 17, "TestSevered tries every so manieth combination; 1 for all")

// A scope says what an exported function is called with.
type scope int

const (
	nothing scope = iota // it touches no file
	inDB
	inRx
	inTx
)

// A severedCall calls one exported function, or two, and looks at the result. It returns errWrong
// if that is not what the database holds.
type severedCall struct {
	scope scope
	run   func(v *severed) error
}

var errWrong = errors.New("a wrong answer")

// A severed is a database one of whose files is cut off.
type severed struct {
	*testing.T
	path string
	sys  *faultfs.System
	db   *DB
	rx   *Rx
	tx   *Tx
	wal  bool

	plain  bool
	suffix string // of the file
	size   func(size int64) int64
	moment int
	names  int // that newName has given
}

// The moments at which the file is cut off.
const (
	beforeBegin = iota // the database is open, and no transaction reads
	afterBegin         // a transaction has begun
	between            // the function was called, and is called again
	within             // it is at one of its operations on files, this one or a later one
)

// severedMoments are all moments. Within are the first operations of a call, and some of those that
// follow.
var severedMoments = []int{beforeBegin, afterBegin, between, within, within + 1, within + 2, within + 4, within + 8, within + 16, within + 32, within + 64}

// severedSizes are how much of a file is left. A map shows zeros for the rest of the last memory
// page, if the file ends within it: nobody notices that, so that an answer may be wrong, as it may
// be in SQLite with mmap_size.
var severedSizes = []struct {
	name  string
	of    func(size int64) int64
	exact bool // every byte that is gone is a fault
}{
	{"nothing", func(int64) int64 { return 0 }, true},
	{"whole memory pages", func(size int64) int64 { return size / 2 &^ int64(os.Getpagesize()-1) }, true},
	{"a part", func(size int64) int64 { return size/2 + 7 }, false},
}

// TestSevered cuts off each file of a database at each moment around a call of each exported
// function: the process lives, and the call gives an error or a correct answer. A function that is
// missing in severedCalls fails the test.
func TestSevered(t *testing.T) {
	checkSevered(t)
	n := 0
	for _, wal := range []bool{false, true} {
		image := severedImage(t, wal)
		for _, name := range slices.Sorted(maps.Keys(severedCalls)) {
			call := severedCalls[name]
			for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
				for _, size := range severedSizes {
					for _, moment := range severedMoments {
						if n++; call.scope == nothing || n%(*severedStride*inQuick(15, inShort(4, 1))) != 0 || !wal && (suffix == "-wal" || suffix == "-shm") {
							continue
						}
						v := &severed{T: t, wal: wal, plain: !size.exact && n%2 == 0, suffix: suffix, size: size.of, moment: moment}
						what := fmt.Sprintf("%s, wal %v, plain %v, %s of %q at moment %d", name, wal, v.plain, size.name, suffix, moment)
						err := v.run(image, call)
						exact := size.exact || v.plain && suffix != "-shm"
						if err != nil && (exact || !errors.Is(err, errWrong)) {
							t.Errorf("%s: %v", what, err)
						}
					}
				}
			}
		}
	}
}

// severedImage returns the files of a database: t in half in the log, if it has one.
func severedImage(t *testing.T, wal bool) map[string][]byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.db")
	o := &Options{Create: true, JournalMode: JournalDelete, Durability: DurabilityOff, PageSize: 4096}
	if wal {
		o.JournalMode = JournalWAL
	}
	db := open(t, path, o)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(db.Exec(t.Context(), "CREATE TABLE t (a INTEGER PRIMARY KEY, b); CREATE INDEX by_b ON t (b); CREATE TABLE k (a PRIMARY KEY, b) WITHOUT ROWID"))
	for _, from := range []int64{1, severedRows/2 + 1} {
		must(db.Update(t.Context(), func(tx *Tx) error { return insertSevered(tx, from, from+severedRows/2) }))
		if from == 1 {
			must(db.Checkpoint(t.Context(), CheckpointTruncate))
		}
	}
	image := map[string][]byte{"": readFile(t, path)}
	if wal {
		image["-wal"] = readFile(t, path+"-wal")
	}
	return image
}

const severedRows = 200

func insertSevered(tx *Tx, from, to int64) error {
	rows, err := tx.Table("t")
	if err != nil {
		return err
	}
	keys, err := tx.Table("k")
	if err != nil {
		return err
	}
	for i := from; i < to; i++ {
		if err := dberr.Join(rows.Put(i, nil, severedText(i)), keys.PutKey(i, severedText(i))); err != nil {
			return err
		}
	}
	return nil
}

// severedText returns column b of row i, which is long in row 7.
func severedText(i int64) string {
	if i == 7 {
		return strings.Repeat("7", 20_000)
	}
	return strings.Repeat(fmt.Sprintf("%03d", i), 60)
}

// run calls the function once.
func (v *severed) run(image map[string][]byte, call severedCall) error {
	v.path = filepath.Join(v.TempDir(), "v.db")
	for suffix, data := range image {
		writeFile(v, v.path+suffix, data)
	}
	v.sys = faultfs.New(osfile.OS)
	var err error
	o := &Options{NoMmap: v.plain, Durability: DurabilityOff, BusyTimeout: time.Second, system: v.sys, spillBytes: 16 << 10}
	if v.db, err = Open(v.path, o); err != nil {
		return err
	}
	defer func() { _ = v.db.Close() }()
	if err := v.db.View(context.Background(), func(rx *Rx) error { return readSevered(rx) }); err != nil {
		return fmt.Errorf("before anything happened: %w", err)
	}
	if v.moment == beforeBegin {
		v.cut()
	} else if v.moment >= within {
		v.sys.Arm(faultfs.Fault{N: v.moment - within + 1, Do: v.cut})
	}
	return v.judge(v.call(call))
}

// cut cuts the file off, if it is there.
func (v *severed) cut() {
	name := v.path + v.suffix
	if info, err := os.Stat(name); err == nil {
		_ = os.Truncate(name, min(info.Size(), v.size(info.Size())))
	}
}

// judge lets only a wrong answer and an error without a path fail.
func (v *severed) judge(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errWrong):
		return err
	case strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), v.path):
		return fmt.Errorf("not one line with its path: %w", err)
	case errors.Is(err, ErrBusy):
		return fmt.Errorf("not the cause: %w", err)
	}
	return nil
}

func (v *severed) call(call severedCall) error {
	ctx := context.Background()
	inside := func() error {
		if v.moment == afterBegin {
			v.cut()
		}
		if v.moment == between {
			if err := call.run(v); err != nil {
				return err
			}
			v.cut()
		}
		return call.run(v)
	}
	switch call.scope {
	case inRx:
		return v.db.View(ctx, func(rx *Rx) error { v.rx = rx; return inside() })
	case inTx:
		return v.db.Update(ctx, func(tx *Tx) error { v.tx, v.rx = tx, &tx.Rx; return inside() })
	}
	return inside()
}

// checkSevered wants exactly the exported functions of the package in severedCalls.
func checkSevered(t *testing.T) {
	t.Helper()
	have, exported := make(map[string]bool), make(map[string]bool)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				have[functionName(f)] = true
				exported[functionName(f)] = f.Name.IsExported()
			}
		}
	}
	for name, is := range exported {
		if _, ok := severedCalls[name]; is && !ok && ast.IsExported(name) {
			t.Errorf("%s is not in severedCalls", name)
		}
	}
	for name := range severedCalls {
		if !have[name] {
			t.Errorf("%s is in severedCalls, and is no function of the package", name)
		}
	}
}

// functionName returns the name of a function, with its receiver's.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	return typ.(*ast.Ident).Name + "." + f.Name.Name
}
