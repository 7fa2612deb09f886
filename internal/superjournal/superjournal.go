// Package superjournal finds out whether a transaction of SQLite on several attached databases was
// committed, and removes the file that decided over it.
package superjournal

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A File is the super-journal: the file that decides over a transaction of SQLite on several
// attached databases. Each database has a rollback journal of its own, whose last bytes name the
// super-journal. To delete the super-journal is to commit the transaction for all of them at once.
// The engine never writes one, but it plays back journals that name one.
//
// The rules follow SQLite's pager_playback and pager_delsuper:
//
//	J1  A journal whose super-journal is gone belongs to a committed transaction. It is deleted and
//	    not played back. A super-journal of no bytes counts as gone. A name that no writer gives a
//	    super-journal counts as none, as in SQLite from 3.54 on: the journal is played back. It comes
//	    from damage, and to delete the journal would leave a database that is half written.
//	J2  A journal whose super-journal is there is played back and deleted. Then the super-journal is
//	    deleted, unless another journal that it lists is there and still names it.
//	J3  The name counts as it stands in the journal, in whatever directory, through symbolic links.
//	    SQLite writes absolute names. A relative one is looked up from the working directory of the
//	    process, as SQLite does.
//
// The name comes from a file that may be hostile. Hence rules that go further than SQLite's:
//
//	J4  Only a verified super-journal is deleted: it is a regular file with one link and not a symbolic link, it is not larger than SQLite makes it,
//	    and it lists our journal. Any doubt, or any error, leaves it where it is: it does no harm.
//	J5  Nothing but a regular file is opened, so that a named pipe cannot block.
//	J6  If the system does not tell whether it is there, for want of a permission, that is an error
//	    and nothing changes. SQLite takes it for gone.
//	J7  That it is gone is made durable before a journal is deleted for it. Otherwise a loss of
//	    power could bring it back, and another database of the transaction would roll back alone.
type File struct {
	sys     osfile.System
	name    string // empty if the journal names none
	durable bool   // changes must survive a loss of power
}

// Bounds of a super-journal. SQLite attaches 125 databases at most, with names of up to 512 bytes.
const (
	MaxSize     = 64 << 10
	MaxChildren = 128
)

// Of returns the super-journal that a journal names.
func Of(sys osfile.System, journal osfile.Handle, durable bool) (File, error) {
	name, err := named(journal)
	return File{sys, name, durable}, err
}

// Named reports whether the journal names a super-journal.
func (s File) Named() bool { return s.name != "" }

// named returns the name of the super-journal in the last bytes of a journal. It is empty if there
// is none (J1, J3).
func named(journal osfile.Handle) (string, error) {
	size, err := journal.Size()
	if err != nil {
		return "", err
	}
	tail := make([]byte, min(size, format.SuperJournalTail))
	if _, err := journal.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return "", err
	}
	name, ok := format.SuperJournal(tail)
	if !ok || !format.SuperJournalName(name) {
		return "", nil
	}
	return name, nil
}

// Gone reports whether the journal names a super-journal that is gone: its transaction is committed
// (J1) (J6).
func (s File) Gone() (bool, error) {
	if s.name == "" {
		return false, nil
	}
	size, there, err := s.sys.Exists(s.name)
	switch {
	case osfile.NoSuchName(err):
		return true, nil
	case err != nil:
		return false, err
	case there && size == 0:
		return s.empty()
	}
	return !there, nil
}

// empty reports whether the name leads to a regular file, whose size is 0. A named pipe,
// for example, also has that size, but is not opened (J5): it is there.
func (s File) empty() (bool, error) {
	f, err := s.sys.Open(s.name, osfile.ReadOnly, 0)
	switch {
	case errors.Is(err, osfile.ErrNotRegular):
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	}
	return true, f.Close()
}

// Settle makes it durable that the super-journal is gone (J7). If its directory is gone too, or
// cannot be opened, there is nothing to sync.
func (s File) Settle() error {
	if !s.durable {
		return nil
	}
	err := s.sys.SyncDir(s.name)
	if osfile.NoSuchName(err) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// Remove deletes the super-journal once the journal that named it is gone, if no other journal
// needs it (J2) and it is verified (J4). It may leave the file: a super-journal that no journal
// names means nothing.
func (s File) Remove(journal string) {
	if s.name == "" {
		return
	}
	f, err := s.sys.Open(s.name, osfile.ReadOnly|osfile.NoFollow, 0)
	if err != nil {
		return
	}
	if s.superfluous(f, journal) {
		_ = s.sys.Remove(f.Name())
	}
	_ = f.Close()
}

// superfluous reports whether f is a super-journal that lists our journal and that no other one
// needs.
func (s File) superfluous(f osfile.Handle, journal string) bool {
	children, ok := childrenOf(f)
	if !ok || !slices.ContainsFunc(children, func(child string) bool { return sameFile(child, journal) }) {
		return false
	}
	for _, child := range children {
		if !sameFile(child, journal) && s.needed(child) {
			return false
		}
	}
	moved, err := f.Moved()
	return err == nil && !moved
}

// childrenOf returns the names of the journals that a super-journal lists. It is not ok if f cannot
// be one.
func childrenOf(f osfile.Handle) (children []string, ok bool) {
	size, err := f.Size()
	if err != nil || size > MaxSize {
		return nil, false
	}
	if f, ok := f.(interface{ Links() (uint64, error) }); ok {
		if n, err := f.Links(); err != nil || n != 1 {
			return nil, false
		}
	}
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil {
		return nil, false
	}
	children = strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	return children, len(children) <= MaxChildren
}

// needed reports whether a journal is there that still names the super-journal, or may do so.
func (s File) needed(child string) bool {
	f, err := s.sys.Open(child, osfile.ReadOnly, 0)
	if err != nil {
		return !osfile.NoSuchName(err)
	}
	name, err := named(f)
	return dberr.Join(err, f.Close()) != nil || name != "" && sameFile(name, s.name)
}

// sameFile reports whether two names lead to the same file, which need not exist.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	first, err := osfile.Resolve(a)
	if err != nil {
		return false
	}
	second, err := osfile.Resolve(b)
	return err == nil && first == second
}
