package crashfs

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/foliofs/folio/internal/osfile"
)

// A Kind is the kind of an operation.
type Kind uint16

// The kinds of operations. A set of them is their sum.
const (
	Open Kind = 1 << iota // an existing file
	Create
	Write
	Truncate
	Sync
	Remove
	Rename
	SyncDir
	Lock
	Unlock
	Preallocate
	Punch

	// Storage lists the operations that a crash can take back, and the ones that prevent that.
	Storage = Create | Write | Truncate | Sync | Remove | Rename | SyncDir | Punch
)

var kindNames = map[Kind]string{
	Open: "open", Create: "create", Write: "write", Truncate: "truncate", Sync: "sync", Remove: "remove", Rename: "rename",
	SyncDir: "syncdir", Lock: "lock", Unlock: "unlock", Preallocate: "allocate", Punch: "punch",
}

func (k Kind) String() string { return kindNames[k] }

// An Op is an operation that was done, or that failed.
type Op struct {
	Kind   Kind
	Name   string // of the file as its handle was opened; of the directory for SyncDir
	To     string // of Rename
	Off, N int64  // the bytes of Write, Lock, Unlock, Preallocate and Punch; N is the size for Truncate
	Lock   osfile.LockKind
	Err    error // why a Lock, a Sync or a Preallocate failed

	inode *inode
	data  []byte  // the bytes of a Write
	words []words // the contents of volatile files then, if they differ from those before
}

// words is a content of a volatile file.
type words struct {
	inode *inode
	data  []uint32 // shared by its readers, never changed
}

// String returns a line without the directories of names.
func (op Op) String() string {
	var b strings.Builder
	fmt.Fprint(&b, op.Kind)
	if op.Kind == Lock {
		b.WriteString(map[osfile.LockKind]string{osfile.Shared: " shared", osfile.Exclusive: " exclusive"}[op.Lock])
	}
	fmt.Fprintf(&b, " %s", path.Base(op.Name))
	switch op.Kind {
	case Write, Lock, Unlock, Preallocate, Punch:
		fmt.Fprintf(&b, " %d+%d", op.Off, op.N)
	case Truncate:
		fmt.Fprintf(&b, " %d", op.N)
	case Rename:
		fmt.Fprintf(&b, " %s", path.Base(op.To))
	}
	switch {
	case errors.Is(op.Err, osfile.ErrLocked):
		b.WriteString(": locked")
	case op.Err != nil:
		fmt.Fprintf(&b, ": %v", op.Err)
	}
	return b.String()
}

// record appends an operation to the history. The caller must hold mu.
func (f *FS) record(op Op) {
	if op.Kind&Storage != 0 {
		op.words = f.changedWords()
	}
	f.ops = append(f.ops, op)
}

func (f *FS) changedWords() (changed []words) {
	for _, i := range f.inodes {
		if !i.volatile || i.region == nil {
			continue
		}
		if i.changed() {
			i.last = i.load()
			changed = append(changed, words{i, i.last})
		}
	}
	return changed
}

// Count returns how many operations there were.
func (f *FS) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.ops)
}

// Ops returns the operations from one on.
func (f *FS) Ops(from int) []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops[from:len(f.ops):len(f.ops)]
}

// Trace returns the operations of the given kinds, one in a line.
func Trace(ops []Op, kinds Kind) string {
	var b strings.Builder
	for _, op := range ops {
		if op.Kind&kinds != 0 {
			fmt.Fprintln(&b, op)
		}
	}
	return b.String()
}
