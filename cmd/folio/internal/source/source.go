// Package source reads the trees that folio import takes in: a directory, a tar archive, plain or compressed, a zip
// archive, or a SQLite archive. What a file is, its content decides, not its name.
//
// # Order
//
// A source yields its entries in walk order: every directory before what it holds; a directory on disk, a zip and a
// SQLite archive sorted by name at each level, a tar archive in its own order. An archive need not hold the directories that
// its names imply.
//
// # Concurrency and memory
//
// A pipeline keeps both cores busy: a producer finds entries, workers read or inflate contents, and the caller's function
// gets them, one at a time and in order, on the caller's goroutine. What is read ahead is bounded: see pipeline.
//
// # Trust
//
// Archives are taken for hostile. A name is relative and leads nowhere but down, or it is an error; a content has the size
// that its entry announces, and no size that an archive claims is allocated before its bytes are there. Whether names
// collide, or lie below what is not a directory, is left to the folio.Builder. One case is settled here: a tar archive
// may hold a name several times, as tar's own way to update an entry, and the last one wins; only in what cannot be
// read twice (compressed, or standard input) the second entry remains, for the Builder to refuse.
package source

import (
	"context"
	"io"
	"os"

	"github.com/foliofs/folio"
)

// Options say what to take in.
type Options struct {
	// MaxSize limits the bytes of all contents together; 0 means no limit. More is ErrTooLarge.
	MaxSize int64
	// Skip tells which files of a directory on disk to pass over; nil means none. dir identifies the directory.
	Skip func(dir FileID, name string) bool
	// Copies lets every name of a file on disk stand for itself: no entry has a Link.
	Copies bool
	// Exclude says what to leave out.
	Exclude Exclude
	// Unreadable, if it is not nil, is told about each file on disk that cannot be read, on any goroutine. The file is left out, or, if it is
	// a directory, what is in it. Without Unreadable it ends the walk. The same holds for a hard link of
	// an archive to a file that Exclude leaves out: the error is ErrExcluded.
	Unreadable func(name string, err error)
	// Warn is told about what cannot be taken in, from any goroutine; nil means not to tell.
	Warn func(name, what string)
}

// A FileID identifies a file on this machine.
type FileID struct{ Dev, Ino uint64 }

// An Entry is one entry of a source.
type Entry struct {
	folio.Header
	ID     FileID // of a file on disk; zero for others, and with a Link
	Shared bool   // the file on disk has several names
	Size   int64  // of a regular file's content, in bytes
	// Holes says that some of the content is zeros that need no room. It may be false where there are such.
	Holes bool
	// Link is the name of the earlier entry that is the same file, and empty otherwise. With a Link, the
	// rest of the Header but for Name says nothing.
	Link string
	// Content gives the Size bytes of a large file; for any other it is nil, and Data has them. Both are
	// valid until the function that got the entry returns.
	Content io.Reader
	Data    []byte
	// What follows is for Diff. Err says why there is no content; Note is left by whoever added the entry.
	Err  error
	Note any
}

// A Source is a tree to be read once.
type Source interface {
	// OnDisk reports whether entries are files on disk, and not parts of an archive.
	OnDisk() bool
	// Size returns the bytes of all contents together, as far as names and headers tell; not ok if that would take
	// reading it all. It may be called while Walk is busy.
	Size(ctx context.Context) (bytes int64, ok bool)
	// Walk calls fn for each entry in walk order, on the caller's goroutine, until there are no more or one fails. Errors
	// name the entry. When ctx ends, so does Walk, even if the source is stuck in a read.
	Walk(ctx context.Context, fn func(*Entry) error) error
	Close() error
}

// Open opens the source at path; "-" is a tar archive on stdin.
func Open(path string, stdin io.Reader, o *Options) (Source, error) {
	if o == nil {
		o = &Options{}
	}
	if path == "-" {
		return openStream("standard input", stdin, nil, o), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openDir(path, o)
	}
	if !info.Mode().IsRegular() {
		return openPipe(path, o), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	src, err := openFile(f, info, o)
	if err != nil {
		f.Close()
	}
	return src, err
}
