package serve

import (
	"context"
	"crypto/tls"
	"io"
	"io/fs"
	"os"
	"time"
)

// Files has the paths of files with settings that may change while a server runs. An empty path
// means that there is no such file.
type Files struct {
	Users       string // as ParseUsers reads them
	Rights      string // as ParseRights reads them
	Certificate string // PEM, with its key in Key
	Key         string
}

// Settings are the contents of Files. A setting without a file is nil.
type Settings struct {
	Users       *Users
	Rights      *Rights
	Certificate *tls.Certificate
}

// Read reads the files. It returns an *fs.PathError for one that cannot be used.
func (f *Files) Read() (s Settings, err error) {
	if s.Users, err = parseFile(f.Users, ParseUsers); err != nil {
		return s, err
	}
	if s.Rights, err = parseFile(f.Rights, ParseRights); err != nil {
		return s, err
	}
	if f.Certificate != "" {
		s.Certificate, err = loadCertificate(f.Certificate, f.Key)
	}
	return s, err
}

// parseFile reads a file, unless name is "".
func parseFile[T any](name string, parse func(io.Reader) (*T, error)) (*T, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v, err := parse(f)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return v, nil
}

// readEvery is how often Follow looks whether a file has changed. One that changes is read when it
// has stayed as it is from one look to the next: a certificate and its key are two files.
var readEvery = 2 * time.Second // tests set it

// Follow reads the files again when they change, and when it receives a value from again, for
// example after SIGHUP, until ctx is done. New requests get the new users, rights and certificate,
// and no connection ends. If one of the files cannot be used, the server keeps the settings that it
// has, and the log and /healthz say why.
func (s *Server) Follow(ctx context.Context, f *Files, again <-chan struct{}) {
	read := f.stamps()
	seen := read
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	said := time.Time{} // when the log said that the certificate ends
	for {
		if text := s.certificateWarning(time.Now()); text != "" && time.Since(said) > 24*time.Hour {
			said = time.Now()
			s.notices.Warn(text)
		}
		force := false
		select {
		case <-ctx.Done():
			return
		case <-again:
			force = true
		case <-tick.C:
		}
		now := f.stamps()
		if force || now != read && now == seen {
			read = now
			s.take(f)
			said = time.Time{}
		}
		seen = now
	}
}

// take makes the contents of the files current if all can be used.
func (s *Server) take(f *Files) {
	settings, err := f.Read()
	if err != nil {
		s.notices.Error("a file cannot be used: what was read before counts", "error", err)
		s.warn("the users, the rights or the certificate have changed and cannot be used; those of before count")
		return
	}
	s.SetUsers(settings.Users, settings.Rights)
	if settings.Certificate != nil {
		s.certificate.Store(settings.Certificate)
	}
	s.warn("")
	s.notices.Info("users, rights and certificate were read again")
}

// A stamp tells whether a file has changed.
type stamp struct {
	size  int64
	mtime time.Time
	inode uint64
}

// stamps returns the stamps of all files. A missing file has none.
func (f *Files) stamps() (list [4]stamp) {
	for i, name := range []string{f.Users, f.Rights, f.Certificate, f.Key} {
		if info, err := os.Stat(name); name != "" && err == nil {
			list[i] = stamp{info.Size(), info.ModTime(), inodeOf(info)}
		}
	}
	return list
}
