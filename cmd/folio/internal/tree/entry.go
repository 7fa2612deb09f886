// Package tree has what copies of trees have in common: the entries of a tree, the sources that
// give them, the sinks that take them in, and what carries them from one to the other.
//
//	source --> Pipeline --> Copy --> sink
//
// A source yields its entries in walk order: every directory before the files in it. The packages
// below this one have the sources and the sinks: disk, archive, volume.
//
// A Pipeline keeps both cores busy: a producer finds entries, workers read or inflate contents, and
// the caller's function gets them, one at a time and in order, on the caller's goroutine. How far
// it reads ahead is bounded.
package tree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

// Options say which files to import.
type Options struct {
	// MaxSize limits the bytes of all contents together; 0 means no limit. More is ErrTooLarge.
	MaxSize int64
	// Skip tells which files of a directory on disk to pass over; nil means none. dir identifies
	// the directory.
	Skip func(dir FileID, name string) bool
	// Copies lets every name of a file on disk stand for itself: no entry has a Link.
	Copies bool
	// Umask are permissions that the entries of a zip archive do not get if it has no modes.
	Umask fs.FileMode
	// Exclude says which files to leave out.
	Exclude Exclude
	// Unreadable, if it is not nil, is called for each file on disk that cannot be read, on any
	// goroutine. The file is left out, or the files in it if it is a directory. Without Unreadable
	// it ends the walk. The same holds for a hard link of an archive to a file that Exclude leaves
	// out: the error is ErrExcluded.
	Unreadable func(name string, err error)
	// Warn is called for each file that cannot be imported, from any goroutine. It may be nil.
	Warn func(name, what string)
}

// OrDefault returns options that are not nil.
func (o *Options) OrDefault() *Options {
	if o == nil {
		return new(Options)
	}
	return o
}

// LeftOut tells Warn about a file that is not taken in.
func (o *Options) LeftOut(name, what string) {
	if o.Warn != nil {
		o.Warn(name, what)
	}
}

// MaxContent is the size of the largest entry of an archive, in bytes. A larger size is not
// credible.
const MaxContent = 1 << 44

// A FileID identifies a file on this machine.
type FileID struct{ Dev, Ino uint64 }

// An Entry is one entry of a source.
type Entry struct {
	folio.Header
	ID     FileID // of a file on disk; zero for any other, and with a Link
	Shared bool   // the file on disk has several names
	Size   int64  // of a regular file's content, in bytes
	// Holes says that some of the content is zeros that need no space. It may be false if there
	// are such.
	Holes bool
	// Link is the name of the earlier entry that is the same file, or empty. With a Link, a Header
	// has Name, and that of a file in a volume also the mode, the owner, and the times.
	Link string
	// Content gives the Size bytes of a large file; for any other it is nil, and Data has them.
	// Both are valid until the function that got the entry returns.
	Content io.Reader
	Data    []byte
	Err     error // for RunBatches: why there is no content
	Tag     uint8 // for RunBatches: a number that the producer gives its consumer
}

// A Source is a tree to be read once.
type Source interface {
	// Fail names the tree, or the file in it that an *EntryError is about, in an error of Walk.
	Fail(err error) error
	// Size returns the bytes of all contents together, as far as names and headers tell; not ok if
	// that would take reading it all. It may be called while Walk is busy.
	Size(ctx context.Context) (bytes int64, ok bool)
	// Walk calls fn for each entry in walk order, on the caller's goroutine, until there are no
	// more or one fails. Errors name the entry. When ctx ends, so does Walk, even if the source is
	// stuck in a read.
	Walk(ctx context.Context, fn func(*Entry) error) error
	Close() error
}

// An Adder is a *folio.Builder or a *folio.Tx.
type Adder interface {
	Add(h *folio.Header, content io.Reader) error
	AddBytes(h *folio.Header, content []byte) error
}

// AddTo adds an entry that is not a hard link to a volume, with the header h.
func (e *Entry) AddTo(a Adder, h *folio.Header) error {
	if e.Content != nil {
		return a.Add(h, e.Content)
	}
	return a.AddBytes(h, e.Data)
}

// Reader returns the content of a regular file.
func (e *Entry) Reader() io.Reader {
	if e.Content != nil {
		return e.Content
	}
	return bytes.NewReader(e.Data)
}

// A Meter is a content that counts the bytes that are read from R, remembers an error of R, and
// ends with a context. The error tells a caller which of a reader and a writer has failed: for
// example, io.Copy returns the error of either.
type Meter struct {
	Ctx   context.Context // nil if it need not end
	R     io.Reader
	Count func(bytes int64) // may be nil
	Err   error             // of R, except for an io.EOF of Read
}

func (m *Meter) Read(p []byte) (int, error) {
	if m.Ctx != nil && m.Ctx.Err() != nil {
		return 0, context.Cause(m.Ctx)
	}
	n, err := m.R.Read(p)
	if err != nil && err != io.EOF {
		m.Err = err
	}
	m.count(int64(n))
	return n, err
}

func (m *Meter) count(n int64) {
	if m.Count != nil {
		m.Count(n)
	}
}

// SkipHole implements folio.SparseReader, if R does. The bytes that it skips count as read.
func (m *Meter) SkipHole(unit int64) (int64, error) {
	s, ok := m.R.(folio.SparseReader)
	if !ok {
		return 0, nil
	}
	n, err := s.SkipHole(unit)
	if err != nil {
		m.Err = err
	}
	m.count(n)
	return n, err
}

// ReadAt implements io.ReaderAt, if R does.
func (m *Meter) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.R.(io.ReaderAt).ReadAt(p, off)
	m.count(int64(n))
	return n, err
}

// NextData returns the first range of data that ends behind off, in a content of that size. At the
// end both are size. Only a file of a volume knows its holes: any other content is all data. The
// bytes before the range count as read.
func (m *Meter) NextData(off, size int64) (start, end int64, err error) {
	f, ok := m.R.(*folio.File)
	if !ok {
		return off, size, nil
	}
	start, err = f.Seek(off, folio.SeekData)
	if errors.Is(err, syscall.ENXIO) {
		start, end, err = size, size, nil
	} else if err == nil {
		end, err = f.Seek(start, folio.SeekHole)
	}
	if err == nil {
		m.count(start - off)
	}
	return start, end, err
}

// An Output remembers the first error of its writer. So callers can tell it from an error of
// reading.
type Output struct {
	W   io.Writer
	Err error
}

func (o *Output) Write(p []byte) (int, error) {
	n, err := o.W.Write(p)
	if err != nil && o.Err == nil {
		o.Err = err
	}
	return n, err
}

// KeepsXattr reports whether an extended attribute goes from disk or out of an archive into a
// volume, and from there to disk. For root these are, on Linux, all but the attributes of the
// system itself, such as access control lists: file capabilities are among them. For other users
// they are the attributes of users, user.*, because the system lets only privileged programs set
// the others.
func KeepsXattr(name string) bool {
	if strings.HasPrefix(name, "user.") {
		return true
	}
	return runtime.GOOS == "linux" && os.Geteuid() == 0 && (strings.HasPrefix(name, "trusted.") || strings.HasPrefix(name, "security."))
}

// SameTime reports whether a volume holds two times as the same one.
func SameTime(a, b time.Time) bool { return Nanoseconds(a) == Nanoseconds(b) }

// Nanoseconds returns a time as a volume holds it: the nearest one in its range.
func Nanoseconds(t time.Time) int64 { return posix.Nanoseconds(t, math.MinInt64) }
