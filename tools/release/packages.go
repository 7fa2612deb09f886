package main

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// formats maps the ending of a file's name to the format of the package.
var formats = []string{"deb", "rpm"}

// writePackages writes the packages of a version for a target. The command needs no other package:
// it is linked with nothing.
func (r *release) writePackages(t target, binary, version string) error {
	contents, err := r.installed(binary)
	if err != nil {
		return err
	}
	for _, format := range formats {
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "folio", Arch: t.arch, Platform: t.system, Version: version, Section: "utils", Priority: "optional",
			Maintainer: r.author, License: "MIT", Homepage: "https://" + modulePath, MTime: r.made,
			Description:     "transactional file system in a single SQLite file\nThe command keeps a directory tree in one SQLite database, and lists, changes, syncs, mounts and serves it.",
			DisableGlobbing: true,
			Overridables:    nfpm.Overridables{Contents: contents, RPM: nfpm.RPM{BuildHost: "folio"}},
		})
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return err
		}
		path := filepath.Join(r.dist, "folio_"+version+"_"+t.system+"_"+t.arch+"."+format)
		if err := create(path, func(w io.Writer) error { return packager.Package(info, w) }); err != nil {
			return err
		}
	}
	return nil
}

// installed returns the files of a package.
func (r *release) installed(binary string) (list files.Contents, err error) {
	add := func(from, to string, mode os.FileMode) {
		list = append(list, &files.Content{
			Source: from, Destination: to, FileInfo: &files.ContentFileInfo{Mode: mode, Owner: "root", Group: "root", MTime: r.made},
		})
	}
	list = append(list, &files.Content{
		Type: files.TypeDir, Destination: "/usr/share/doc/folio", FileInfo: &files.ContentFileInfo{Mode: 0o755, Owner: "root", Group: "root", MTime: r.made},
	})
	add(binary, "/usr/bin/folio", 0o755)
	add(filepath.Join(r.source, "LICENSE"), "/usr/share/doc/folio/copyright", 0o644)
	add(filepath.Join(filepath.Dir(binary), noticesName), "/usr/share/doc/folio/"+noticesName, 0o644)
	add(filepath.Join(r.source, "CHANGELOG.md"), "/usr/share/doc/folio/CHANGELOG.md", 0o644)
	for _, s := range shells {
		if s.installed != "" {
			add(filepath.Join(r.completions(), s.file), s.installed, 0o644)
		}
	}
	pages, err := filepath.Glob(filepath.Join(r.manPages(), "*.1"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		packed, err := pack(page, filepath.Join(r.staging, "man.gz"))
		if err != nil {
			return nil, err
		}
		add(packed, "/usr/share/man/man1/"+filepath.Base(packed), 0o644)
	}
	return list, nil
}

// pack compresses a file into a directory, as man pages are installed, unless it has been done.
func pack(path, dir string) (packed string, err error) {
	packed = filepath.Join(dir, filepath.Base(path)+".gz")
	if _, err := os.Stat(packed); err == nil {
		return packed, nil
	}
	content, err := os.ReadFile(path)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return "", err
	}
	return packed, create(packed, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		_, err = z.Write(content)
		return errors.Join(err, z.Close())
	})
}
