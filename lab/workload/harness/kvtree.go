package harness

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
)

// kvTree keeps files by directory and name, and contents by number.
type kvTree struct{ KV }

func (t kvTree) Import(src fs.FS) error { return ImportTree(kvTreeStore{t.KV}, src) }

func (t kvTree) FS() (fs.FS, error) { return StoreFS(kvTreeStore{t.KV}), nil }

type kvTreeStore struct{ kv KV }

// The two kinds of keys.
const (
	entryKeys   = 'e' // then the directory, a zero, and the name
	contentKeys = 'c' // then the id
)

func entryKey(dir, name string) []byte {
	return fmt.Appendf(nil, "%c%s\x00%s", entryKeys, dir, name)
}

func contentKey(id int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{contentKeys}, uint64(id))
}

func (s kvTreeStore) Import(fn func(put func(dir string, n *Node, content []byte) error) error) error {
	return s.kv.Update(func(tx KVTx) error {
		return fn(func(dir string, n *Node, content []byte) error {
			if err := tx.Put(entryKey(dir, n.Base), encodeNode(n)); err != nil || n.IsDir() {
				return err
			}
			return tx.Put(contentKey(n.ID), content)
		})
	})
}

// encodeNode writes id, mode, size and time, eight bytes each.
func encodeNode(n *Node) (b []byte) {
	for _, v := range [...]int64{n.ID, int64(n.Perm), n.Bytes, n.Changed} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	return b
}

func decodeNode(name string, b []byte) (*Node, error) {
	if len(b) != 32 {
		return nil, fmt.Errorf("entry %s has %d bytes", name, len(b))
	}
	field := func(i int) int64 { return int64(binary.BigEndian.Uint64(b[8*i:])) }
	return &Node{Base: name, ID: field(0), Perm: fs.FileMode(field(1)), Bytes: field(2), Changed: field(3)}, nil
}

func (s kvTreeStore) Find(dir, name string) (n *Node, err error) {
	err = s.kv.View(func(tx KVTx) error {
		b, err := tx.Get(entryKey(dir, name))
		if err == nil && b != nil {
			n, err = decodeNode(name, b)
		}
		return err
	})
	return n, err
}

func (s kvTreeStore) List(dir string) (list []*Node, err error) {
	prefix := entryKey(dir, "")
	err = s.kv.View(func(tx KVTx) error {
		return tx.Scan(prefix, func(key, value []byte) error {
			n, err := decodeNode(string(key[len(prefix):]), value)
			list = append(list, n)
			return err
		})
	})
	return list, err
}

// view calls fn with a content, which must be there.
func (s kvTreeStore) view(n *Node, fn func(content []byte)) error {
	return s.kv.View(func(tx KVTx) error {
		b, err := tx.Get(contentKey(n.ID))
		if err != nil {
			return err
		}
		if b == nil && n.Bytes > 0 {
			return errors.New("an entry without content")
		}
		fn(b)
		return nil
	})
}

func (s kvTreeStore) Content(n *Node) (data []byte, err error) {
	err = s.view(n, func(b []byte) { data = append(make([]byte, 0, len(b)), b...) })
	return data, err
}

// ReadAt takes a part of the value: there is no way to ask for less.
func (s kvTreeStore) ReadAt(n *Node, p []byte, off int64) (read int, err error) {
	err = s.view(n, func(b []byte) { read = copy(p, b[min(off, int64(len(b))):]) })
	return read, err
}
