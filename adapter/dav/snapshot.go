package dav

import (
	"bytes"
	"io/fs"
	"net/http"

	"github.com/foliofs/folio"
)

// A snapshot is the tree of a request that changes nothing, and that reads many files: they are of
// one moment, and what a directory tells of its files is not read again for each of them.
type snapshot struct{ *folio.Rx }

// A snapshotKey is the key of the snapshot in the context of a request that has one.
type snapshotKey struct{}

func (snapshot) Mkdir(string, fs.FileMode) error { return fs.ErrPermission }

func (snapshot) RemoveAll(string) error { return fs.ErrPermission }

func (snapshot) Rename(string, string) error { return fs.ErrPermission }

func (s snapshot) OpenFile(name string, flag int, _ fs.FileMode) (*folio.File, error) {
	if flag != 0 {
		return nil, fs.ErrPermission
	}
	return s.Open(name)
}

// maxDelayed is how many bytes of an answer wait in memory.
const maxDelayed = 4 << 20

// A delayed answer waits in memory until flush is called, or until it is long.
type delayed struct {
	http.ResponseWriter
	status  int // 0 if there is none yet, or if it was sent
	waiting bytes.Buffer
	sent    bool
}

func (d *delayed) WriteHeader(status int) {
	if d.sent || status < http.StatusOK {
		d.ResponseWriter.WriteHeader(status)
		return
	}
	d.status = status
}

func (d *delayed) Write(p []byte) (int, error) {
	if !d.sent && d.waiting.Len()+len(p) <= maxDelayed {
		return d.waiting.Write(p)
	}
	d.flush()
	return d.ResponseWriter.Write(p)
}

// flush sends the part of the answer that waits. From now on, nothing waits.
func (d *delayed) flush() {
	if d.sent {
		return
	}
	d.sent = true
	if d.status != 0 {
		d.ResponseWriter.WriteHeader(d.status)
	}
	_, _ = d.ResponseWriter.Write(d.waiting.Bytes()) // no client is left to be told of an error
	d.waiting = bytes.Buffer{}
}

// Unwrap is for http.ResponseController.
func (d *delayed) Unwrap() http.ResponseWriter { return d.ResponseWriter }
