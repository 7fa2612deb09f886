package volumetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/native"
)

// A faultCall calls one exported method or function. It returns errWrong for a wrong answer.
type faultCall struct {
	name   string // as in "Volume.Stat"
	within string // "a View", "an Update", or nothing
	scope  scope
	answer // the effect of the call
	run    func(s *faultScene, ctx context.Context) error
}

func (c *faultCall) String() string {
	if c.within == "" {
		return c.name
	}
	return c.name + " in " + c.within
}

// An answer is the effect of a call.
type answer uint

const (
	reads    answer = 1 << iota
	writes          // it changes the volume, or waits for those that do
	takesCtx        // it has a context
	ofItself        // it needs neither the volume nor a file: nothing keeps it from its answer
	wide            // it uses the volume as a whole
	twoNames        // its errors may be *os.LinkError
)

var errWrong = errors.New("a wrong answer")

// wrongUnless returns errWrong unless ok or there is an error.
func wrongUnless(ok bool, err error) error {
	if err == nil && !ok {
		return errWrong
	}
	return err
}

// A faultReader has the methods that Volume, Rx, Tx and Root have.
type faultReader interface {
	FS() fs.FS
	Lstat(name string) (fs.FileInfo, error)
	Open(name string) (*folio.File, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	ReadFile(name string) ([]byte, error)
	Readlink(name string) (string, error)
	Stat(name string) (fs.FileInfo, error)
	Xattrs(name string) (map[string][]byte, error)
}

// A faultWriter has the methods that Volume, Tx and Root have.
type faultWriter interface {
	faultReader
	Chmod(name string, mode fs.FileMode) error
	Chown(name string, uid, gid int) error
	Chtimes(name string, atime, mtime time.Time) error
	Clone(oldname, newname string) error
	CloneFile(oldname, newname string) error
	CopyFile(oldname, newname string) error
	Create(name string) (*folio.File, error)
	CreateTemp(dir, pattern string) (*folio.File, error)
	Lchown(name string, uid, gid int) error
	Lchtimes(name string, atime, mtime time.Time) error
	Link(oldname, newname string) error
	Merge(ctx context.Context, src fs.FS, dir string, o *folio.MergeOptions) error
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Mknod(name string, mode fs.FileMode, rdev uint64) error
	OpenFile(name string, flag int, perm fs.FileMode) (*folio.File, error)
	Remove(name string) error
	RemoveAll(name string) error
	RemoveXattr(name, attr string) error
	Rename(oldname, newname string) error
	SetXattr(name, attr string, value []byte) error
	Symlink(oldname, newname string) error
	WriteFile(name string, data []byte, perm fs.FileMode) error
	WriteFrom(name string, r io.Reader, perm fs.FileMode) (int64, error)
}

// closing closes a file that was opened.
func closing(f *folio.File, err error) error {
	if err == nil {
		err = f.Close()
	}
	return err
}

func rightFile(data []byte, err error) error {
	return wrongUnless(bytes.Equal(data, faultContent), err)
}

func rightInfo(info fs.FileInfo, err error) error {
	return wrongUnless(err != nil || info.Size() == int64(len(faultContent)), err)
}

func rightList[T any](list []T, err error) error { return wrongUnless(len(list) == 2, err) }

// readerFaults are the calls of a faultReader.
var readerFaults = map[string]func(r faultReader) error{
	"FS":       func(r faultReader) error { _ = r.FS(); return nil },
	"Lstat":    func(r faultReader) error { return rightInfo(r.Lstat("d/f")) },
	"Open":     func(r faultReader) error { return closing(r.Open("d/f")) },
	"ReadDir":  func(r faultReader) error { return rightList(r.ReadDir("d")) },
	"ReadFile": func(r faultReader) error { return rightFile(r.ReadFile("link")) },
	"Readlink": func(r faultReader) error {
		target, err := r.Readlink("link")
		return wrongUnless(target == "d/f", err)
	},
	"Stat": func(r faultReader) error { return rightInfo(r.Stat("link")) },
	"Xattrs": func(r faultReader) error {
		attrs, err := r.Xattrs("d/f")
		return wrongUnless(string(attrs["user.a"]) == "value", err)
	},
}

// faultLinks are the methods of a faultReader that the result of FS has, too.
type faultLinks interface {
	Readlink(name string) (string, error)
	Xattrs(name string) (map[string][]byte, error)
}

// ioFaults are the calls on the result of FS.
var ioFaults = map[string]func(f fs.FS) error{
	"FS":       func(f fs.FS) error { _ = f.(interface{ FS() fs.FS }).FS(); return nil },
	"Readlink": func(f fs.FS) error { return must.Second(f.(faultLinks).Readlink("link")) },
	"Xattrs":   func(f fs.FS) error { return must.Second(f.(faultLinks).Xattrs("d/f")) },
	"Glob":     func(f fs.FS) error { return must.Second(f.(fs.GlobFS).Glob("d/many/*")) },
	"Lstat": func(f fs.FS) error {
		return rightInfo(f.(interface {
			Lstat(name string) (fs.FileInfo, error)
		}).Lstat("d/f"))
	},
	"Open": func(f fs.FS) error {
		opened, err := f.Open("d/f")
		if err == nil {
			err = opened.Close()
		}
		return err
	},
	"ReadDir":  func(f fs.FS) error { return rightList(f.(fs.ReadDirFS).ReadDir("d")) },
	"ReadFile": func(f fs.FS) error { return rightFile(f.(fs.ReadFileFS).ReadFile("d/f")) },
	"ReadLink": func(f fs.FS) error {
		return must.Second(f.(interface {
			ReadLink(name string) (string, error)
		}).ReadLink("link"))
	},
	"Stat": func(f fs.FS) error { return rightInfo(f.(fs.StatFS).Stat("d/f")) },
	"Sub":  func(f fs.FS) error { return must.Second(f.(fs.SubFS).Sub("d")) },
}

// writerFaults are the calls that a faultWriter has in addition.
var writerFaults = map[string]func(s *faultScene, w faultWriter) error{
	"Chmod":     func(_ *faultScene, w faultWriter) error { return w.Chmod("d/f", 0o600) },
	"Chown":     func(_ *faultScene, w faultWriter) error { return w.Chown("d/f", 1, 2) },
	"Chtimes":   func(_ *faultScene, w faultWriter) error { return w.Chtimes("d/f", time.Now(), time.Now()) },
	"Clone":     func(s *faultScene, w faultWriter) error { return w.Clone("d", s.newName()) },
	"CloneFile": func(s *faultScene, w faultWriter) error { return w.CloneFile("d/f", s.newName()) },
	"CopyFile":  func(s *faultScene, w faultWriter) error { return w.CopyFile("d/f", s.newName()) },
	"Create":    func(s *faultScene, w faultWriter) error { return closing(w.Create(s.newName())) },
	"CreateTemp": func(_ *faultScene, w faultWriter) error {
		return closing(w.CreateTemp(".", "temporary"))
	},
	"Lchown":   func(_ *faultScene, w faultWriter) error { return w.Lchown("link", 1, 2) },
	"Lchtimes": func(_ *faultScene, w faultWriter) error { return w.Lchtimes("link", time.Now(), time.Now()) },
	"Link":     func(s *faultScene, w faultWriter) error { return w.Link("d/f", s.newName()) },
	"Mkdir":    func(s *faultScene, w faultWriter) error { return w.Mkdir(s.newName(), 0o755) },
	"MkdirAll": func(s *faultScene, w faultWriter) error { return w.MkdirAll(s.newName()+"/a/b", 0o755) },
	"Mknod":    func(s *faultScene, w faultWriter) error { return w.Mknod(s.newName(), fs.ModeNamedPipe, 0) },
	"OpenFile": func(s *faultScene, w faultWriter) error {
		return closing(w.OpenFile(s.newName(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644))
	},
	"Remove":      func(_ *faultScene, w faultWriter) error { return w.Remove("dangling") },
	"RemoveAll":   func(_ *faultScene, w faultWriter) error { return w.RemoveAll("d") },
	"RemoveXattr": func(_ *faultScene, w faultWriter) error { return w.RemoveXattr("d/f", "user.a") },
	"Rename":      func(s *faultScene, w faultWriter) error { return w.Rename("d", s.newName()) },
	"SetXattr":    func(_ *faultScene, w faultWriter) error { return w.SetXattr("d/f", "user.b", make([]byte, 40_000)) },
	"Symlink":     func(s *faultScene, w faultWriter) error { return w.Symlink("d", s.newName()) },
	"WriteFile":   func(_ *faultScene, w faultWriter) error { return w.WriteFile("d/f", faultContent[1:], 0o644) },
	"WriteFrom": func(s *faultScene, w faultWriter) error {
		return must.Second(w.WriteFrom("d/f", io.MultiReader(bytes.NewReader(faultContent), halfway{s}), 0o644))
	},
}

// fileFaults are the calls of a File.
var fileFaults = map[string]struct {
	answer
	run func(s *faultScene) error
}{
	"Chmod":   {writes, func(s *faultScene) error { return s.file.Chmod(0o600) }},
	"Chown":   {writes, func(s *faultScene) error { return s.file.Chown(1, 2) }},
	"Close":   {ofItself, func(s *faultScene) error { return s.file.Close() }},
	"Name":    {ofItself, func(s *faultScene) error { _ = s.file.Name(); return nil }},
	"Read":    {reads, func(s *faultScene) error { return must.Second(s.file.Read(make([]byte, 9_000))) }},
	"ReadAt":  {reads, func(s *faultScene) error { return must.Second(s.file.ReadAt(make([]byte, 9_000), 100_000)) }},
	"ReadDir": {reads, func(s *faultScene) error { return rightList(s.sub.ReadDir(-1)) }},
	"ReadFrom": {writes, func(s *faultScene) error {
		return must.Second(s.file.ReadFrom(io.MultiReader(strings.NewReader("text"), halfway{s})))
	}},
	"Readdir":      {reads, func(s *faultScene) error { return rightList(s.sub.Readdir(-1)) }},
	"Readdirnames": {reads, func(s *faultScene) error { return rightList(s.sub.Readdirnames(-1)) }},
	"Seek":         {reads, func(s *faultScene) error { return must.Second(s.file.Seek(0, io.SeekEnd)) }},
	"Stat":         {reads, func(s *faultScene) error { return rightInfo(s.file.Stat()) }},
	"Sync":         {writes, func(s *faultScene) error { return s.file.Sync() }},
	"Truncate":     {writes, func(s *faultScene) error { return s.file.Truncate(1000) }},
	"Write":        {writes, func(s *faultScene) error { return must.Second(s.file.Write(faultContent[:5000])) }},
	"WriteAt":      {writes, func(s *faultScene) error { return must.Second(s.file.WriteAt(faultContent, 50_000)) }},
	"WriteString":  {writes, func(s *faultScene) error { return must.Second(s.file.WriteString("text")) }},
	"WriteTo":      {reads, func(s *faultScene) error { return must.Second(s.file.WriteTo(halfway{s})) }},
}

// volumeFaults are the calls that only a Volume has.
var volumeFaults = map[string]struct {
	answer
	run func(s *faultScene, ctx context.Context) error
}{
	"Backup": {wide | reads | takesCtx, func(s *faultScene, ctx context.Context) error { return s.v.Backup(ctx, halfway{s}) }},
	"BackupFile": {wide | reads | takesCtx, func(s *faultScene, ctx context.Context) error {
		o := &folio.BackupOptions{Progress: func(int64, int64) { s.half() }}
		return s.v.BackupFile(ctx, s.path+"."+s.newName(), o)
	}},
	"Changes": {reads, changesFault},
	"Check": {reads | takesCtx, func(s *faultScene, ctx context.Context) error {
		return must.Second(s.v.Check(ctx, &folio.CheckOptions{Progress: func(int64, int64) { s.half() }}))
	}},
	"Close": {writes, func(s *faultScene, _ context.Context) error { return s.v.Close() }},
	"Compact": {writes | takesCtx, func(s *faultScene, ctx context.Context) error {
		return s.v.Compact(ctx, &folio.CompactOptions{Progress: func(int64, int64) { s.half() }})
	}},
	"CreateSnapshot": {writes | takesCtx, func(s *faultScene, ctx context.Context) error { return s.v.CreateSnapshot(ctx, s.newName()) }},
	"Diff": {reads | takesCtx, func(s *faultScene, ctx context.Context) error {
		var paths []string
		for c, err := range s.v.Diff(ctx, "past", "newer") {
			if err != nil {
				return err
			}
			paths = append(paths, c.Path)
		}
		return wrongUnless(slices.Equal(paths, []string{"d/many/000", "d/many/001"}), nil)
	}},
	"Info": {reads | takesCtx, func(s *faultScene, ctx context.Context) error { return must.Second(s.v.Info(ctx)) }},
	"Prune": {writes | takesCtx, func(s *faultScene, ctx context.Context) error {
		return must.Second(s.v.Prune(ctx, folio.PrunePolicy{Last: 1}))
	}},
	"RemoveSnapshot": {writes | takesCtx, func(s *faultScene, ctx context.Context) error { return s.v.RemoveSnapshot(ctx, "past") }},
	"RemoveSnapshots": {writes | takesCtx, func(s *faultScene, ctx context.Context) error {
		return s.v.RemoveSnapshots(ctx, folio.Snapshot{Name: "past"}, folio.Snapshot{Name: "newer"})
	}},
	"Repair": {writes | takesCtx, func(s *faultScene, ctx context.Context) error { return must.Second(s.v.Repair(ctx)) }},
	"Restore": {writes | takesCtx, func(s *faultScene, ctx context.Context) error {
		return must.Second(s.v.Restore(ctx, "past", ".", &folio.RestoreOptions{Progress: func(string, folio.RestoreReport) { s.half() }}))
	}},
	"OpenSnapshot": {reads | takesCtx, func(s *faultScene, ctx context.Context) error {
		at, err := s.v.OpenSnapshot(ctx, "past")
		if err != nil {
			return err
		}
		defer at.Close()
		p, err := at.ReadFile("d/many/000")
		return wrongUnless(string(p) == "content", err)
	}},
	"Snapshots": {reads | takesCtx, func(s *faultScene, ctx context.Context) error { return rightList(s.v.Snapshots(ctx)) }},
	"Stats":     {ofItself, func(s *faultScene, _ context.Context) error { _ = s.v.Stats(); return nil }},
	"Sync":      {writes | takesCtx, func(s *faultScene, ctx context.Context) error { return s.v.Sync(ctx) }},
	"Update": {writes | takesCtx, func(s *faultScene, ctx context.Context) error {
		return s.v.Update(ctx, func(tx *folio.Tx) error {
			s.half()
			return tx.WriteFile(s.newName(), faultContent, 0o644)
		})
	}},
	"View": {reads | takesCtx, func(s *faultScene, ctx context.Context) error {
		return s.v.View(ctx, func(rx *folio.Rx) error {
			s.half()
			return rightFile(rx.ReadFile("d/f"))
		})
	}},
	"Versions": {reads | takesCtx, func(s *faultScene, ctx context.Context) error {
		list, err := s.v.Versions(ctx, "d/many/000")
		return wrongUnless(len(list) == 2, err)
	}},
}

// pastFault reads a snapshot within a View or an Update.
func pastFault(rx interface {
	At(name string) (*folio.Rx, error)
},
) error {
	past, err := rx.At("past")
	if err != nil {
		return err
	}
	p, err := past.ReadFile("d/many/000")
	return wrongUnless(string(p) == "content", err)
}

// changesFault looks at the volume a few times.
func changesFault(s *faultScene, ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	for _, err := range s.v.Changes(ctx) {
		return err
	}
	return nil
}

// builderFaults are the calls of a Builder.
var builderFaults = map[string]func(s *faultScene) error{
	"Add":      func(s *faultScene) error { return s.builder.Add(&folio.Header{Name: s.newName()}, halfway{s}) },
	"AddBytes": func(s *faultScene) error { return s.builder.AddBytes(&folio.Header{Name: s.newName()}, faultContent) },
	"Link": func(s *faultScene) error {
		name := s.newName()
		return cmp.Or(s.builder.AddBytes(&folio.Header{Name: name}, nil), s.builder.Link(name, s.newName()))
	},
}

// functionFaults are the functions of the package.
var functionFaults = map[string]struct {
	answer
	run func(s *faultScene, ctx context.Context) error
}{
	"Create": {takesCtx, func(s *faultScene, ctx context.Context) error {
		return folio.Create(ctx, s.path+"."+s.newName(), nil, func(b *folio.Builder) error {
			return b.AddBytes(&folio.Header{Name: "f"}, faultContent)
		})
	}},
	"FileInfoHeader": {ofItself, func(s *faultScene, _ context.Context) error {
		_ = folio.FileInfoHeader("f", s.info, "")
		return nil
	}},
	"ImportFS": {reads | takesCtx, func(s *faultScene, ctx context.Context) error {
		o := &folio.ImportOptions{Progress: func(string, folio.BuildStats) { s.half() }}
		return folio.ImportFS(ctx, s.path+"."+s.newName(), s.v.FS(), o)
	}},
	"Open": {0, func(s *faultScene, _ context.Context) error {
		v, err := folio.Open(s.path, nil)
		if err == nil {
			err = v.Close()
		}
		return err
	}},
	"OpenMemory": {ofItself, func(*faultScene, context.Context) error {
		v, err := folio.OpenMemory(nil)
		if err == nil {
			err = v.Close()
		}
		return err
	}},
	"OpenReaderAt": {0, openReaderAtFault},
	"OpenStore": {wide, func(s *faultScene, _ context.Context) error {
		opened, err := native.Open(s.path, nil)
		if err != nil {
			return err
		}
		v, err := folio.OpenStore(private.Key{}, opened, nil)
		if err != nil {
			_ = opened.Close()
			return err
		}
		return v.Close()
	}},
	"PrunePolicy.Choose": {ofItself, func(*faultScene, context.Context) error {
		kept, removed := folio.PrunePolicy{Last: 1}.Choose([]folio.Snapshot{{Name: "a"}, {Name: "b"}})
		return wrongUnless(len(kept) == 1 && len(removed) == 1, nil)
	}},
	"RepairSchema": {takesCtx, func(s *faultScene, ctx context.Context) error {
		return must.Second(folio.RepairSchema(ctx, s.path))
	}},
}

func openReaderAtFault(s *faultScene, _ context.Context) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	v, err := folio.OpenReaderAt(f, int64(len(faultContent)), nil)
	if err == nil {
		err = v.Close()
	}
	return err
}

// A faultTable is all calls.
type faultTable []*faultCall

func (l *faultTable) add(name, within string, where scope, does answer, run func(s *faultScene, ctx context.Context) error) {
	*l = append(*l, &faultCall{name, within, where, does, run})
}

// addPlain adds a call without a context.
func (l *faultTable) addPlain(name, within string, where scope, does answer, run func(s *faultScene) error) {
	l.add(name, within, where, does, func(s *faultScene, _ context.Context) error { return run(s) })
}

// faultCalls returns the table of all calls, sorted.
func faultCalls() []*faultCall {
	var l faultTable
	volume, root := typeName[folio.Volume](), typeName[folio.Root]()
	rx, tx := typeName[folio.Rx](), typeName[folio.Tx]()
	l.addReader(volume, onVolume, func(s *faultScene) faultReader { return s.v })
	l.addReader(root, onVolume, func(s *faultScene) faultReader { return s.root })
	l.addReader(rx, inView, func(s *faultScene) faultReader { return s.rx })
	l.addReader(tx, inUpdate, func(s *faultScene) faultReader { return s.tx })
	l.addWriter(volume, onVolume, func(s *faultScene) faultWriter { return s.v })
	l.addWriter(root, onVolume, func(s *faultScene) faultWriter { return s.root })
	l.addWriter(tx, inUpdate, func(s *faultScene) faultWriter { return s.tx })
	l.addOpened("", onVolume, func(s *faultScene) faultReader { return s.v })
	l.addOpened("a View", inView, func(s *faultScene) faultReader { return s.rx })
	l.addOpened("an Update", inUpdate, func(s *faultScene) faultReader { return s.tx })
	for name, c := range volumeFaults {
		l.add(volume+"."+name, "", onVolume, c.answer, c.run)
	}
	for name, c := range functionFaults {
		l.add(name, "", onVolume, c.answer, c.run)
	}
	for name, c := range overlayFaults {
		l.add(name, "", onVolume, c.answer, c.run)
	}
	for name, run := range builderFaults {
		l.addPlain("Builder."+name, "", inCreate, 0, run)
	}
	l.addPlain("Builder.Stats", "", inCreate, ofItself, func(s *faultScene) error { _ = s.builder.Stats(); return nil })
	l = append(l, otherFaults(volume, root, tx)...)
	slices.SortFunc(l, func(a, b *faultCall) int { return strings.Compare(a.String(), b.String()) })
	return l
}

// addReader adds the calls of a faultReader.
func (l *faultTable) addReader(typ string, where scope, of func(s *faultScene) faultReader) {
	for name, run := range readerFaults {
		does := reads
		if name == "FS" {
			does = ofItself
		}
		l.addPlain(typ+"."+name, "", where, does, func(s *faultScene) error { return run(of(s)) })
	}
}

// addWriter adds the calls that a faultWriter has in addition.
func (l *faultTable) addWriter(typ string, where scope, of func(s *faultScene) faultWriter) {
	for name, run := range writerFaults {
		does := writes
		if slices.Contains([]string{"Clone", "CloneFile", "CopyFile", "Link", "Rename", "Symlink"}, name) {
			does |= twoNames
		}
		l.addPlain(typ+"."+name, "", where, does, func(s *faultScene) error { return run(s, of(s)) })
	}
	l.add(typ+".Merge", "", where, writes|takesCtx, func(s *faultScene, ctx context.Context) error {
		return mergeFault(ctx, s, of(s))
	})
}

// addOpened adds the calls on files that a volume, a View or an Update has opened and returned.
func (l *faultTable) addOpened(within string, where scope, of func(s *faultScene) faultReader) {
	for name, c := range fileFaults {
		l.addPlain("File."+name, within, where, c.answer, c.run)
	}
	for name, run := range ioFaults {
		does := reads
		if slices.Contains([]string{"FS", "Glob", "Sub"}, name) { // fs.Glob returns no error of reading
			does = ofItself
		}
		l.addPlain("ioFS."+name, within, where, does, func(s *faultScene) error { return run(of(s).FS()) })
	}
	l.addPlain("dirEntry.Info", within, where, reads, func(s *faultScene) error { return rightInfo(s.entry.Info()) })
	for name, run := range entryFaults {
		l.addPlain("dirEntry."+name, within, where, ofItself, func(s *faultScene) error { run(s.entry); return nil })
	}
	for name, run := range infoFaults {
		l.addPlain("fileInfo."+name, within, where, ofItself, func(s *faultScene) error { run(s.info); return nil })
	}
}

// otherFaults are the calls that are in no table.
func otherFaults(volume, root, tx string) []*faultCall {
	header := func(s *faultScene) *folio.Header { return &folio.Header{Name: s.newName(), Mode: 0o644} }
	return []*faultCall{
		{"ChangeKind.String", "", onVolume, ofItself, func(*faultScene, context.Context) error { _ = folio.ChangeMade.String(); return nil }},
		{"MergePolicy.String", "", onVolume, ofItself, func(*faultScene, context.Context) error { _ = folio.MergeKeep.String(); return nil }},
		{"CheckReport.OK", "", onVolume, ofItself, func(*faultScene, context.Context) error { _ = new(folio.CheckReport).OK(); return nil }},
		{"Node.IsDevice", "", onVolume, ofItself, func(*faultScene, context.Context) error { _ = new(folio.Node).IsDevice(); return nil }},
		{"Node.IsRegular", "", onVolume, ofItself, func(*faultScene, context.Context) error { _ = new(folio.Node).IsRegular(); return nil }},
		{"Stats.GroupSize", "", onVolume, ofItself, func(*faultScene, context.Context) error { _ = new(folio.Stats).GroupSize(); return nil }},
		{volume + ".OpenRoot", "", onVolume, reads, func(s *faultScene, _ context.Context) error { return closingRoot(s.v.OpenRoot("d")) }},
		{volume + ".WithContext", "", onVolume, reads | takesCtx, func(s *faultScene, ctx context.Context) error {
			return rightFile(s.v.WithContext(ctx).ReadFile("d/f"))
		}},
		{root + ".WithContext", "", onVolume, reads | takesCtx, func(s *faultScene, ctx context.Context) error {
			return rightFile(s.root.WithContext(ctx).ReadFile("d/f"))
		}},
		{root + ".OpenRoot", "", onVolume, reads, func(s *faultScene, _ context.Context) error { return closingRoot(s.root.OpenRoot("d")) }},
		{root + ".Close", "", onVolume, ofItself, func(s *faultScene, _ context.Context) error { return s.root.Close() }},
		{root + ".Name", "", onVolume, ofItself, func(s *faultScene, _ context.Context) error { _ = s.root.Name(); return nil }},
		{typeName[folio.Rx]() + ".At", "", inView, reads, func(s *faultScene, _ context.Context) error { return pastFault(s.rx) }},
		{tx + ".At", "", inUpdate, reads, func(s *faultScene, _ context.Context) error { return pastFault(s.tx) }},
		{tx + ".Add", "", inUpdate, writes, func(s *faultScene, _ context.Context) error { return s.tx.Add(header(s), halfway{s}) }},
		{tx + ".AddBytes", "", inUpdate, writes, func(s *faultScene, _ context.Context) error { return s.tx.AddBytes(header(s), faultContent) }},
		{tx + ".SetHeader", "", inUpdate, writes, func(s *faultScene, _ context.Context) error {
			return s.tx.SetHeader(&folio.Header{Name: "d/f", Mode: 0o600})
		}},
	}
}

func closingRoot(r *folio.Root, err error) error {
	if err == nil {
		err = r.Close()
	}
	return err
}

func mergeFault(ctx context.Context, s *faultScene, w faultWriter) error {
	src := fstest.MapFS{"a": {Data: faultContent}, "b/c": {Data: []byte("c")}}
	return w.Merge(ctx, src, s.newName(), &folio.MergeOptions{Progress: func(string, folio.MergeStats) { s.half() }})
}

var entryFaults = map[string]func(e fs.DirEntry){
	"IsDir":  func(e fs.DirEntry) { _ = e.IsDir() },
	"Name":   func(e fs.DirEntry) { _ = e.Name() },
	"String": func(e fs.DirEntry) { _ = fmt.Sprint(e) },
	"Type":   func(e fs.DirEntry) { _ = e.Type() },
}

var infoFaults = map[string]func(i fs.FileInfo){
	"IsDir":   func(i fs.FileInfo) { _ = i.IsDir() },
	"ModTime": func(i fs.FileInfo) { _ = i.ModTime() },
	"Mode":    func(i fs.FileInfo) { _ = i.Mode() },
	"Name":    func(i fs.FileInfo) { _ = i.Name() },
	"Size":    func(i fs.FileInfo) { _ = i.Size() },
	"String":  func(i fs.FileInfo) { _ = fmt.Sprint(i) },
	"Sys":     func(i fs.FileInfo) { _ = i.Sys() },
}

func typeName[T any]() string { return reflect.TypeFor[T]().Name() }
