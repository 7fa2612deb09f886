package mutated

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/oracle/judge"
)

// A mutator makes mutations.
type mutator struct {
	*rand.Rand
	t *testing.T
}

func (m image) clone() image {
	m.db, m.journal, m.wal = bytes.Clone(m.db), bytes.Clone(m.journal), bytes.Clone(m.wal)
	return m
}

// mutate returns a damaged copy of an image.
func (r *mutator) mutate(base image) image {
	m := base.clone()
	switch {
	case m.journal != nil:
		for range 1 + r.IntN(2) {
			r.mutateJournal(&m)
		}
	case m.wal != nil:
		for range 1 + r.IntN(2) {
			r.mutateLog(&m)
		}
	case r.IntN(4) == 0:
		r.mutateSchema(&m)
	default:
		for range 1 + r.IntN(3) {
			r.mutatePage(&m)
		}
	}
	return m
}

// mutateSchema changes a row of sqlite_schema.
func (r *mutator) mutateSchema(m *image) {
	path := m.write(r.t, filepath.Join(r.t.TempDir(), "schema"))
	c, err := judge.Open(path)
	if err != nil {
		r.t.Fatal(err)
	}
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	row := fmt.Sprintf("(SELECT rowid FROM sqlite_schema ORDER BY rowid LIMIT 1 OFFSET %d)", r.IntN(8))
	other := fmt.Sprintf("(SELECT %%s FROM sqlite_schema ORDER BY rowid LIMIT 1 OFFSET %d)", r.IntN(8))
	column := one("type", "name", "tbl_name", "rootpage", "sql")
	value := fmt.Sprintf(other, column)
	switch r.IntN(4) {
	case 0:
		value = one("NULL", "''", "0", "1", "2", "3", "-1", "999999", "'x'", "'index'", "'table'", "'indez'", "'TABLE'", "x'00'", "'sqlite_autoindex_t_2'", "'sqlite_autoindex_k_3'", "'SQLITE_AUTOINDEX_T_1'", "2.5", "'4'")
	case 1:
		column = "sql"
		i := 1 + r.IntN(60)
		value = fmt.Sprintf("substr(sql, 1, %d) || %s || substr(sql, %d)", i, one("''", "' '", "','", "')'", "'('", "'x'", "' UNIQUE'", "'\"'", "' NOT NULL'", "'a'"), i+r.IntN(4))
	}
	change := fmt.Sprintf("UPDATE sqlite_schema SET %s = %s WHERE rowid = %s", column, value, row)
	switch r.IntN(8) {
	case 0:
		change = "DELETE FROM sqlite_schema WHERE rowid = " + row
	case 1:
		change = "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE rowid = " + row
	case 2:
		change = "UPDATE sqlite_schema SET rowid = rowid + 100 WHERE rowid = " + row
	}
	if err := c.Exec("PRAGMA writable_schema = ON; PRAGMA synchronous = OFF;" + change); err != nil {
		change += " (refused)"
	}
	if err := c.Close(); err != nil {
		r.t.Fatal(err)
	}
	m.kind = "schema: " + change
	m.db = read(r.t, path)
}

// pageSize returns that in the header of a database.
func pageSize(db []byte) int {
	if n := int(binary.BigEndian.Uint16(db[16:])); n >= 512 {
		return n
	}
	return 65536
}

// mutatePage damages a page of the database.
func (r *mutator) mutatePage(m *image) {
	size := pageSize(m.db)
	pages := len(m.db) / size
	pgno := 1 + r.IntN(pages)
	page := m.db[(pgno-1)*size:][:size]
	head := page
	if pgno == 1 {
		head = page[100:]
	}
	what := ""
	switch r.IntN(13) {
	case 0:
		what, head[0] = "kind", []byte{0, 2, 5, 10, 13, 7}[r.IntN(6)]
	case 1:
		what, head[3], head[4] = "no cells", 0, 0
	case 2:
		what, head[4] = "cells", head[4]+byte(r.IntN(5))-2
	case 3:
		what = "cell pointer"
		binary.BigEndian.PutUint16(head[8+2*r.IntN(12):], uint16(r.IntN(size+20)))
	case 4:
		what = "content start or freeblock"
		binary.BigEndian.PutUint16(head[1+4*r.IntN(2):], uint16(r.IntN(size+20)))
	case 5:
		what = "a byte of a cell"
		head[len(head)/2+r.IntN(len(head)/2)] ^= 1 << r.IntN(8)
	case 6:
		what = "any byte"
		page[r.IntN(size)] = byte(r.Uint32())
	case 7:
		what = "a copy of another page"
		copy(page[min(100, size-len(head)):], m.db[r.IntN(pages)*size+size-len(head):][:len(head)])
	case 8:
		what = "zeros"
		clear(head)
	case 9:
		what, pgno = "header", 1
		at := []int{28, 32, 36, 44, 52, 56, 92, 18, 19, 20, 21, 24}[r.IntN(12)]
		m.db[at+r.IntN(4)] = byte(r.IntN(6))
	case 10:
		what = "child or overflow page"
		if n := int(binary.BigEndian.Uint16(head[3:])); n > 0 && n < size/4 {
			at := int(binary.BigEndian.Uint16(head[12+2*r.IntN(n):]))
			if at+4 < size {
				binary.BigEndian.PutUint32(page[at:], uint32(r.IntN(pages+2)))
			}
		}
	case 11:
		what = "the first word"
		binary.BigEndian.PutUint32(head, uint32(r.IntN(pages+2)))
	case 12:
		what = "cut off"
		m.db = m.db[:len(m.db)-1-r.IntN(2*size)]
	}
	m.kind += fmt.Sprintf("page %d: %s; ", pgno, what)
}

// mutateJournal damages a rollback journal. The checksums of records are right afterwards, mostly.
func (r *mutator) mutateJournal(m *image) {
	j := m.journal
	size := pageSize(m.db)
	records := (len(j) - 512) / (size + 8)
	if records < 1 {
		return // an earlier mutation has cut it off
	}
	record := func() []byte { return j[512+r.IntN(records)*(size+8):][:size+8] }
	what := ""
	switch r.IntN(11) {
	case 0:
		what = "cut off"
		m.journal = j[:r.IntN(len(j))]
	case 1:
		what = "cut off in the header"
		m.journal = j[:r.IntN(600)]
	case 2:
		what = "records"
		binary.BigEndian.PutUint32(j[8:], []uint32{0, 1, 3, 1000, 0xffffffff}[r.IntN(5)])
	case 3:
		what = "pages"
		binary.BigEndian.PutUint32(j[16:], uint32(r.IntN(len(m.db)/size+3)))
	case 4:
		what = "sector size"
		binary.BigEndian.PutUint32(j[20:], []uint32{0, 1, 31, 32, 512, 1024, 4096, 65536, 131072}[r.IntN(9)])
	case 5:
		what = "page size"
		binary.BigEndian.PutUint32(j[24:], []uint32{0, 256, 512, 1024, 4096, 65536, 131072, 777}[r.IntN(8)])
	case 6:
		what = "page of a record"
		binary.BigEndian.PutUint32(record(), []uint32{0, 1, 2, uint32(1 + r.IntN(60)), 1 << 21, format.LockPage(size)}[r.IntN(6)])
	case 7:
		what = "content of a record"
		b := record()
		b[4+r.IntN(size)] = byte(r.Uint32())
		binary.BigEndian.PutUint32(b[4+size:], format.JournalChecksum(binary.BigEndian.Uint32(j[12:]), b[4:4+size]))
	case 8:
		what = "any byte"
		j[r.IntN(len(j))] = byte(r.Uint32())
	case 9:
		what = "any byte of the header"
		j[r.IntN(32)] = byte(r.Uint32())
	case 10:
		what = "super-journal"
		names := []string{"", "\x00\x00", "\x00abc", "m.db-mjABCDEF9AB", "m.db-mjABCDEF9AB", "/nowhere/x-mj0123459AB"}
		m.super = super{any: true, name: names[r.IntN(len(names))], there: r.IntN(2) == 0}
		m.super.plain = !strings.Contains(m.super.name, "m.db")
		m.super.there = m.super.there && !m.super.plain
		what += fmt.Sprintf(" %q, there %v", m.super.name, m.super.there)
	}
	m.kind += "journal: " + what + "; "
}

// trailer returns the end of a journal that names a super-journal.
func trailer(name string) []byte {
	b := append(binary.BigEndian.AppendUint32(nil, 0), name...)
	sum := uint32(0)
	for _, c := range []byte(name) {
		sum += uint32(int8(c))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
	b = binary.BigEndian.AppendUint32(b, sum)
	return append(b, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"...)
}

// mutateLog damages a log. The checksums of its frames are right afterwards, mostly.
func (r *mutator) mutateLog(m *image) {
	head, ok := format.ParseWALHeader(m.wal)
	if !ok {
		return
	}
	size := format.FrameHeaderSize + head.PageSize
	var frames [][]byte
	for at := format.WALHeaderSize; at+size <= len(m.wal); at += size {
		frames = append(frames, m.wal[at:at+size])
	}
	if len(frames) == 0 {
		return
	}
	i := r.IntN(len(frames))
	f := frames[i]
	what, seal := "", r.IntN(8) > 0
	switch r.IntN(10) {
	case 0:
		what = "page number"
		binary.BigEndian.PutUint32(f, []uint32{0, 1, 2, uint32(1 + r.IntN(60)), 5000}[r.IntN(5)])
	case 1:
		what = "commit"
		for binary.BigEndian.Uint32(f[4:]) == 0 && i+1 < len(frames) {
			i++
			f = frames[i]
		}
		binary.BigEndian.PutUint32(f[4:], uint32(int(binary.BigEndian.Uint32(f[4:]))+r.IntN(9)-4))
	case 2:
		what = "commit of any frame"
		binary.BigEndian.PutUint32(f[4:], []uint32{0, 1, uint32(r.IntN(100))}[r.IntN(3)])
	case 3:
		what = "a frame left out"
		frames = slices.Delete(frames, i, i+1)
	case 4:
		what = "a frame twice"
		frames = slices.Insert(frames, i, f)
	case 5:
		what = "a byte of the page"
		f[format.FrameHeaderSize+r.IntN(head.PageSize)] = byte(r.Uint32())
	case 6:
		what = "header of the page"
		f[format.FrameHeaderSize+r.IntN(12)] = byte(r.IntN(14))
	case 7:
		what = "cut off"
		m.wal = m.wal[:r.IntN(len(m.wal))]
		m.kind += "log: " + what + "; "
		return
	case 8:
		what, seal = "any byte", false
		f[r.IntN(size)] = byte(r.Uint32())
	case 9:
		what = "header"
		at := 4 * r.IntN(6)
		binary.BigEndian.PutUint32(m.wal[at:], []uint32{0, 512, 1024, 4096, 65536, format.WALVersion, binary.BigEndian.Uint32(m.wal[at:]) ^ 1}[r.IntN(7)])
		if h, _ := format.ParseWALHeader(m.wal); seal {
			h.BigEndian = m.wal[3]&1 == 1
			h.Put(m.wal)
		}
	}
	m.kind += "log: " + what + "; "
	if seal {
		m.wal = sealed(m.wal[:format.WALHeaderSize], frames)
	}
}

// sealed returns a log of the given frames, with right checksums.
func sealed(header []byte, frames [][]byte) []byte {
	log := bytes.Clone(header)
	head, ok := format.ParseWALHeader(header)
	sum := head.Checksum
	for _, b := range frames {
		b = bytes.Clone(b)
		if ok && len(b) == format.FrameHeaderSize+head.PageSize {
			f, _ := format.ParseFrameHeader(b)
			f.Seal(&head, sum, b[format.FrameHeaderSize:])
			f.Put(b)
			sum = f.Checksum
		}
		log = append(log, b...)
	}
	return log
}
