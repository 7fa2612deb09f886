package archive

import (
	"io"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A zipLinks knows which entries of an archive are names of one file. An entry of Folio says of
// which file it is a further name, and has the content all the same. That is believed if the file
// comes earlier and has the same content.
type zipLinks struct {
	o     *tree.Options
	first map[string]zipFile // the entry that stands for a file, by its first name; one without a name is not known yet
}

// linksOf finds the files with several names.
func linksOf(files []zipFile, o *tree.Options) *zipLinks {
	l := &zipLinks{o: o, first: make(map[string]zipFile)}
	for _, f := range files {
		if f.link != "" {
			l.first[f.link] = zipFile{}
		}
	}
	return l
}

// link returns the name of the earlier entry that is the same file, or "". Entries come in walk
// order. If the first name is left out, the next one gets the content.
func (l *zipLinks) link(f zipFile) (name string, err error) {
	key := f.name
	if f.link != "" {
		key = f.link
	}
	first, ok := l.first[key]
	switch {
	case !ok || l.o.Exclude.Below(f.name, false):
		return "", nil
	case first.File == nil:
		l.first[key] = f
		return "", nil
	case f.link == "" || first.CRC32 != f.CRC32 || first.UncompressedSize64 != f.UncompressedSize64:
		return "", nil
	}
	if same, err := f.hasContentOf(first); err != nil || !same {
		return "", err
	}
	return first.name, nil
}

// hasContentOf compares two contents of the same announced size.
func (f zipFile) hasContentOf(first zipFile) (bool, error) {
	a, err := first.Open()
	if err != nil {
		return false, archiveError(err)
	}
	defer a.Close()
	b, err := f.Open()
	if err != nil {
		return false, archiveError(err)
	}
	defer b.Close()
	size := int64(f.UncompressedSize64)
	same, err := tree.EqualContents(io.LimitReader(a, size), io.LimitReader(b, size))
	if err == nil && same {
		err = tree.AtEnd(b)
	}
	return same, archiveError(err)
}
