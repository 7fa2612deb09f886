package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// A member is a file in an archive or a package.
type member struct {
	name string // with slashes
	from string
	mode os.FileMode
}

// documents are files of the source that go into each archive.
var documents = []string{"LICENSE", "README.md", "CHANGELOG.md"}

// members returns the members of a target's archive, below a directory of the archive's name.
func (r *release) members(binary string) (list []member, err error) {
	list = append(list, member{filepath.Base(binary), binary, 0o755},
		member{noticesName, filepath.Join(filepath.Dir(binary), noticesName), 0o644})
	for _, name := range documents {
		list = append(list, member{name, filepath.Join(r.source, name), 0o644})
	}
	for _, dir := range []struct{ name, from string }{{"completions", r.completions()}, {"man", r.manPages()}} {
		entries, err := os.ReadDir(dir.from)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			list = append(list, member{dir.name + "/" + e.Name(), filepath.Join(dir.from, e.Name()), 0o644})
		}
	}
	return list, nil
}

// writeArchive writes the archive for a target: zip for Windows, and tar for all others.
func (r *release) writeArchive(t target, binary string) error {
	list, err := r.members(binary)
	if err != nil {
		return err
	}
	name := r.fileName(t)
	if t.system == "windows" {
		return create(filepath.Join(r.dist, name+".zip"), func(w io.Writer) error { return r.writeZip(w, name, list) })
	}
	return create(filepath.Join(r.dist, name+".tar.gz"), func(w io.Writer) error { return r.writeTar(w, name, list) })
}

// fileName is the beginning of the names of the files for a target.
func (r *release) fileName(t target) string {
	return "folio_" + r.number() + "_" + t.system + "_" + t.arch
}

func (r *release) writeTar(w io.Writer, top string, list []member) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(z)
	for _, m := range list {
		content, err := os.ReadFile(m.from)
		if err != nil {
			return err
		}
		h := &tar.Header{Name: top + "/" + m.name, Mode: int64(m.mode), Size: int64(len(content)), ModTime: r.made, Format: tar.FormatUSTAR}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := out.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(out.Close(), z.Close())
}

func (r *release) writeZip(w io.Writer, top string, list []member) error {
	out := zip.NewWriter(w)
	for _, m := range list {
		content, err := os.ReadFile(m.from)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: top + "/" + m.name, Method: zip.Deflate, Modified: r.made}
		h.SetMode(m.mode)
		f, err := out.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(content); err != nil {
			return err
		}
	}
	return out.Close()
}

// create writes a new file.
func create(path string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
