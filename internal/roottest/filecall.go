//go:build unix

package roottest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// fileCall returns a call on an open file, or opens one. Files stay open when their names or
// directories are renamed or removed.
func fileCall(r *rand.Rand) call {
	i := r.IntN(6)
	switch n := r.IntN(20); {
	case n < 6:
		return openCall(r, i)
	case n < 9:
		return on(i, readCall(r))
	case n < 14:
		return on(i, writeCall(r))
	case n < 15:
		return on(i, directoryCall(r))
	case n < 18:
		return on(i, otherCall(r))
	}
	return on(i, closeCall(r))
}

// A handleCall is a call on an open file.
type handleCall struct {
	name string
	do   func(s *side, f File) string
}

func on(i int, c handleCall) call {
	return call{fmt.Sprintf("file %d: %s", i, c.name), func(s *side) string {
		if s.files[i] == nil {
			return "none"
		}
		return c.do(s, s.files[i])
	}, false}
}

func openCall(r *rand.Rand, i int) call {
	name, perm := name(r), permission(r)
	flag := [...]int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR}[r.IntN(4)]
	for _, f := range []int{os.O_CREATE, os.O_EXCL, os.O_TRUNC, os.O_APPEND} {
		if r.IntN(3) == 0 {
			flag |= f
		}
	}
	if flag&os.O_CREATE == 0 {
		flag &^= os.O_EXCL // else undefined
	}
	if len(furtherFlags) > 0 && r.IntN(4) == 0 {
		flag |= furtherFlags[r.IntN(len(furtherFlags))]
		name = possible(name)
	}
	return change(func(s *side) error {
		if s.files[i] != nil {
			_ = s.files[i].Close()
			s.files[i] = nil
		}
		f, err := s.OpenFile(name, flag, perm)
		if err == nil {
			s.files[i] = f
		}
		return err
	}, "file %d = OpenFile(%q, %#x, %v)", i, name, flag, perm)
}

func readCall(r *rand.Rand) handleCall {
	size, off := len(content(r)), offset(r)
	switch r.IntN(4) {
	case 0:
		return handleCall{fmt.Sprintf("Read(%d)", size), func(s *side, f File) string {
			rewindDirectory(f)
			p := make([]byte, size)
			n, err := f.Read(p)
			return Hash(p[:n]) + s.fail(err)
		}}
	case 1:
		return handleCall{fmt.Sprintf("ReadAt(%d, %d)", size, off), func(s *side, f File) string {
			p := make([]byte, size)
			n, err := f.ReadAt(p, off)
			return Hash(p[:n]) + s.fail(err)
		}}
	case 2:
		return handleCall{"WriteTo", func(s *side, f File) string {
			rewindDirectory(f)
			var b bytes.Buffer
			n, err := f.WriteTo(&b)
			return fmt.Sprint(n, Hash(b.Bytes()), s.fail(err))
		}}
	}
	whence := [...]int{0, 1, 2, 9}[r.IntN(4)]
	return handleCall{fmt.Sprintf("Seek(%d, %d)", off, whence), func(s *side, f File) string {
		if info, err := f.Stat(); err != nil || info.IsDir() {
			return "dir"
		}
		n, err := f.Seek(off, whence)
		return fmt.Sprint(n, s.fail(err))
	}}
}

func writeCall(r *rand.Rand) handleCall {
	data, off := content(r), offset(r)
	if r.IntN(50) == 0 {
		off = beyond
	}
	switch r.IntN(8) {
	case 0, 1:
		return handleCall{fmt.Sprintf("Write(%d)", len(data)), func(s *side, f File) string {
			n, err := f.Write(data)
			return fmt.Sprint(n, s.fail(err))
		}}
	case 2, 3, 4:
		return handleCall{fmt.Sprintf("WriteAt(%d, %d)", len(data), off), func(s *side, f File) string {
			n, err := f.WriteAt(data, off)
			return fmt.Sprint(n, s.fail(err))
		}}
	case 5:
		return handleCall{fmt.Sprintf("ReadFrom(%d)", len(data)), func(s *side, f File) string {
			n, err := f.ReadFrom(struct{ io.Reader }{bytes.NewReader(data)})
			return fmt.Sprint(n, s.fail(err))
		}}
	case 6:
		return handleCall{fmt.Sprintf("WriteString(%d)", len(data)), func(s *side, f File) string {
			n, err := f.WriteString(string(data))
			return fmt.Sprint(n, s.fail(err))
		}}
	}
	return handleCall{fmt.Sprintf("Truncate(%d)", off), func(s *side, f File) string { return s.fail(f.Truncate(off)) }}
}

// directoryCall returns a call that reads a directory from its start, in pieces or as a whole.
func directoryCall(r *rand.Rand) handleCall {
	piece, way := r.IntN(4), r.IntN(3)
	return handleCall{fmt.Sprintf("read the directory, %d at a time, in way %d", piece, way), func(s *side, f File) string {
		rewindDirectory(f)
		var all []string
		for {
			list, err := readPiece(s, f, piece, way)
			all = append(all, list...)
			if piece == 0 || errors.Is(err, io.EOF) || err != nil {
				slices.Sort(all)
				return strings.Join(all, " ") + s.fail(err)
			}
		}
	}}
}

// rewindDirectory takes a directory back to its start: at its end Linux forgets that it is a
// directory.
func rewindDirectory(f File) {
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_, _ = f.Seek(0, io.SeekStart)
	}
}

// readPiece reads entries by ReadDir, Readdir or Readdirnames.
func readPiece(s *side, f File, n, way int) (list []string, err error) {
	switch way {
	case 0:
		entries, err := f.ReadDir(n)
		for _, e := range entries {
			list = append(list, fmt.Sprint(e.Name(), e.Type(), e.IsDir()))
		}
		return list, err
	case 1:
		infos, err := f.Readdir(n)
		for _, info := range infos {
			list = append(list, s.info(info))
		}
		return list, err
	}
	return f.Readdirnames(n)
}

func otherCall(r *rand.Rand) handleCall {
	mode := fs.FileMode(r.IntN(0o1000))
	switch r.IntN(12) {
	case 3:
		return handleCall{"Name", func(s *side, f File) string { return s.fileName(f) }}
	case 0:
		return handleCall{"Chmod", func(s *side, f File) string { return s.fail(f.Chmod(mode)) }}
	case 1:
		if os.Geteuid() == 0 {
			return handleCall{"Chown", func(s *side, f File) string { return s.fail(f.Chown(int(mode)%5-1, -1)) }}
		}
	case 2:
		if r.IntN(20) == 0 { // slow on a disk
			return handleCall{"Sync", func(s *side, f File) string { return s.fail(f.Sync()) }}
		}
	}
	return handleCall{"Stat", func(s *side, f File) string { return s.stat(f.Stat()) }}
}

// closeCall closes a file. Half of them are used and closed once more.
func closeCall(r *rand.Rand) handleCall {
	i, again := r.IntN(6), r.IntN(2) == 0
	return handleCall{"Close", func(s *side, f File) string {
		if !again && s.files[i] == f {
			s.files[i] = nil
		}
		return s.fail(f.Close())
	}}
}
