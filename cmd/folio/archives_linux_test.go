package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
)

var archivesFlag = flag.String("archives", "", "directories of archives that TestArchives compares with bsdtar, joined by commas")

// TestArchives imports archives of other programs, and compares what an export of each volume has
// with what bsdtar makes of the archive: types, contents, modes, times and links. The archives are,
// for example, those of the tests of libarchive (*.uu), of packages archive/tar and archive/zip of
// Go, and of Python:
//
//	git clone https://github.com/libarchive/libarchive
//	go test ./cmd/folio -run TestArchives -archives libarchive/libarchive/test,$(go env GOROOT)/src/archive/zip/testdata -v
//
// Each archive that is refused or differs needs a reason below.
func TestArchives(t *testing.T) {
	if *archivesFlag == "" {
		t.Skip("needs -archives")
	}
	bsdtar, err := exec.LookPath("bsdtar")
	if err != nil {
		t.Skip("no bsdtar")
	}
	counts := make(map[string]int)
	for dir := range strings.SplitSeq(*archivesFlag, ",") {
		files, err := os.ReadDir(dir)
		must.Do(t, err)
		for _, f := range files {
			if f.Type().IsRegular() {
				counts[compareArchive(t, bsdtar, filepath.Join(dir, f.Name()))]++
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%5d %s", counts[what], what)
	}
}

// compareArchive compares what both make of a file, and returns a word for it.
func compareArchive(t *testing.T, bsdtar, path string) (what string) {
	dir := t.TempDir()
	if strings.HasSuffix(path, ".uu") {
		path = decoded(t, path, dir)
	}
	theirs, volume := filepath.Join(dir, "theirs"), filepath.Join(dir, "v.folio")
	must.Do(t, os.Mkdir(theirs, 0o755))
	start := time.Now().Add(-time.Second)
	cmd := exec.Command("timeout", "20", bsdtar, "-xpf", path, "-C", theirs)
	cmd.Env = append(os.Environ(), "TZ=UTC", "LC_ALL=C.UTF-8")
	_, bsdErr := cmd.Output()
	code, _, stderr := runFolio(t, "import", path, volume)
	switch {
	case code != 0 && code != 3 && bsdErr != nil:
		return "refused by both"
	case code != 0 && code != 3:
		for _, k := range refusals {
			if strings.Contains(stderr, k.text) {
				return "refused: " + k.why
			}
		}
		t.Errorf("%s: refused: %s", path, stderr)
		return "refused"
	case bsdErr != nil:
		return "refused by bsdtar alone"
	}
	ours := filepath.Join(dir, "ours")
	mustRun(t, "export", volume, ours)
	want, got := treeOfDisk(t, theirs), treeOfDisk(t, ours)
	kind := archiveKind(path)
	why := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(maps.Collect(both(want, got)))) {
		a, b := want[name], got[name]
		if a.dir && b.dir && a.mtime.After(start) && b.mtime.After(start) {
			b.mtime = a.mtime // the archive does not name the directory
		}
		if a == b {
			continue
		}
		reason := differenceOf(kind, filepath.Base(path), a, b)
		if reason == "" {
			t.Errorf("%s: %q: bsdtar has %+v, the volume %+v", path, name, a, b)
		}
		why[reason] = true
	}
	if len(why) == 0 {
		return "equal"
	}
	return "differ: " + strings.Join(slices.Sorted(maps.Keys(why)), "; ")
}

// refusals are texts of errors, and why an archive is refused by them that bsdtar takes.
var refusals = []struct{ text, why string }{
	{"method that is not known", "a method of zip; the message says how bsdtar makes a tar of it"},
	{"is compressed by", "the message names the program that unpacks it"},
	{"is not a directory, nor a tar", "of another kind; the message says how bsdtar makes a tar of it"},
	{"backslash", "a backslash that may stand between two names; the same way out"},
	{"the archive ends too early", "without its end it may have been cut off; the same way out"},
	{"begins with zeros", "an image of a disk"},
	{"is an empty file", "nothing is no archive"},
	{"appears twice", "two files, or a file and a directory, have one name"},
	{"sparse map too long", "more holes than package tar takes"},
	{"the archive is damaged", "contradicts itself, or something follows its end"},
	{"wrong checksum", "damaged"},
	{"is encrypted", "encrypted"},
}

// An unpacked is a file as both have it.
type unpacked struct {
	dir   bool
	mode  fs.FileMode
	data  string // a sum, or the target of a symbolic link
	mtime time.Time
	names string // of a file with several
}

func archiveKind(path string) string {
	head, _ := os.ReadFile(path)
	if bytes.Contains(head[:min(len(head), 1<<20)], []byte("PK\x03\x04")) && !bytes.Contains(head[:min(len(head), 512)], []byte("ustar")) {
		return "zip"
	}
	return "tar"
}

// differenceOf returns why a file may differ, or "".
func differenceOf(kind, archive string, a, b unpacked) string {
	for name, why := range oddArchives {
		if strings.HasSuffix(archive, name) {
			return why
		}
	}
	if kind != "zip" || a.names != b.names || a.dir != b.dir || a.data != b.data || a.mode.Type() != b.mode.Type() {
		return ""
	}
	var why []string
	if a.mode != b.mode {
		if plain := a.mode.Perm() == 0o664 || a.mode.Perm() == 0o775; !plain {
			return ""
		}
		why = append(why, "a zip without modes: ours are those of a new file, and read-only is kept")
	}
	if !a.mtime.Equal(b.mtime) {
		why = append(why, "a zip with times in UTC, where bsdtar takes those without a zone, or in steps of 2 s")
	}
	return strings.Join(why, "; ")
}

// oddArchives are archives that differ in a way of their own.
var oddArchives = map[string]string{
	"zip_filename_cp866.zip":     codePage,
	"zip_filename_koi8r.zip":     codePage,
	"zip_filename_utf8_ru2.zip":  codePage,
	"zip_cp437_header.zip":       codePage,
	"zip_7075_utf8_paths.zip":    "the name is that of Info-ZIP's field in UTF-8",
	"invalid-go17.tar":           "package tar takes the prefix of a header that contradicts itself",
	"tar_timestamp_overflow.tar": "a size that begins with NULs, by which GNU tar means 0, and package tar 14",
	"tar_pax_sun_holesdata.tar":  "bsdtar knows the group by its name",
}

const codePage = "a zip without the mark of UTF-8: names are in code page 437, as APPNOTE has it, and bsdtar keeps the bytes"

// both yields the keys of two maps.
func both(a, b map[string]unpacked) func(yield func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		for _, m := range []map[string]unpacked{a, b} {
			for name := range m {
				if !yield(name, true) {
					return
				}
			}
		}
	}
}

// A linkedFile is a file that has a name.
type linkedFile struct {
	name string
	id   uint64
}

// joinNames gives the files with several names all of them.
func joinNames(tree map[string]unpacked, links []linkedFile) map[string]unpacked {
	names := make(map[uint64][]string)
	for _, l := range links {
		names[l.id] = append(names[l.id], l.name)
	}
	for _, list := range names {
		slices.Sort(list)
		for _, name := range list {
			if f := tree[name]; len(list) > 1 {
				f.names = strings.Join(list, "\x00")
				tree[name] = f
			}
		}
	}
	return tree
}

func treeOfDisk(t *testing.T, dir string) map[string]unpacked {
	tree := make(map[string]unpacked)
	var links []linkedFile
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		var data string
		switch info.Mode().Type() {
		case 0:
			data, err = sumOf(os.ReadFile(path))
		case fs.ModeSymlink:
			data, err = os.Readlink(path)
		}
		tree[name] = unpackedOf(info, data)
		if !d.IsDir() {
			links = append(links, linkedFile{name, info.Sys().(*syscall.Stat_t).Ino})
		}
		return err
	}))
	return joinNames(tree, links)
}

func unpackedOf(info fs.FileInfo, data string) unpacked {
	f := unpacked{dir: info.IsDir(), mode: info.Mode(), data: data, mtime: info.ModTime().Truncate(time.Second)}
	if f.mode&fs.ModeSymlink != 0 {
		f.mode = fs.ModeSymlink
	}
	return f
}

func sumOf(data []byte, err error) (string, error) {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), err
}

// decoded writes what a file of uuencode holds, and returns the path.
func decoded(t *testing.T, path, dir string) string {
	text, err := os.ReadFile(path)
	must.Do(t, err)
	data, err := uudecode(text)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	out := filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), ".uu"))
	must.Do(t, os.WriteFile(out, data, 0o600))
	return out
}

func uudecode(text []byte) (data []byte, err error) {
	inside := false
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case !inside:
			inside = bytes.HasPrefix(line, []byte("begin "))
		case string(line) == "end":
			return data, nil
		case len(line) > 0:
			n := int(line[0]-' ') & 63
			for line = line[1:]; n > 0; n -= 3 {
				var bits uint32
				for i := range 4 {
					c := byte(' ')
					if i < len(line) {
						c = line[i]
					}
					bits = bits<<6 | uint32(c-' ')&63
				}
				line = line[min(4, len(line)):]
				data = append(data, []byte{byte(bits >> 16), byte(bits >> 8), byte(bits)}[:min(n, 3)]...)
			}
		}
	}
	if !inside {
		return nil, errors.New("not a file of uuencode")
	}
	return data, fmt.Errorf("ends too early")
}
