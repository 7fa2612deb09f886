// This file takes the place of afero's os.go in a copy of afero, so that its tests run on Folio instead of the operating system.

package afero

import (
	"io/fs"
	"time"
)

// Folio is what the tests run on.
var Folio interface {
	Fs
	Symlinker
}

// OsFs is Folio by another name: the tests say &OsFs{}.
type OsFs struct{}

func NewOsFs() Fs { return &OsFs{} }

func (OsFs) Name() string                                { return Folio.Name() }
func (OsFs) Create(name string) (File, error)            { return Folio.Create(name) }
func (OsFs) Open(name string) (File, error)              { return Folio.Open(name) }
func (OsFs) Mkdir(name string, mode fs.FileMode) error   { return Folio.Mkdir(name, mode) }
func (OsFs) MkdirAll(path string, m fs.FileMode) error   { return Folio.MkdirAll(path, m) }
func (OsFs) Remove(name string) error                    { return Folio.Remove(name) }
func (OsFs) RemoveAll(path string) error                 { return Folio.RemoveAll(path) }
func (OsFs) Rename(oldname, newname string) error        { return Folio.Rename(oldname, newname) }
func (OsFs) Stat(name string) (fs.FileInfo, error)       { return Folio.Stat(name) }
func (OsFs) Chmod(name string, mode fs.FileMode) error   { return Folio.Chmod(name, mode) }
func (OsFs) Chown(name string, uid, gid int) error       { return Folio.Chown(name, uid, gid) }
func (OsFs) Chtimes(name string, a, m time.Time) error   { return Folio.Chtimes(name, a, m) }
func (OsFs) SymlinkIfPossible(to, name string) error     { return Folio.SymlinkIfPossible(to, name) }
func (OsFs) ReadlinkIfPossible(n string) (string, error) { return Folio.ReadlinkIfPossible(n) }

func (OsFs) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	return Folio.LstatIfPossible(name)
}

func (OsFs) OpenFile(name string, flag int, mode fs.FileMode) (File, error) {
	return Folio.OpenFile(name, flag, mode)
}
