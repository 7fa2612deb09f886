package format

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// Each target holds a decoder to the same three things. It must not panic. The value that it
// decoded must encode to bytes that decode the same. And these must be the very input wherever the
// format knows only one way to write it. Seeds lie under testdata/fuzz; seed_test.go says where
// they come from.

func FuzzVarint(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		v, n := Varint(b)
		if v2, n2 := longVarint(b); n != 1 && (v2 != v || n2 != n) {
			t.Fatalf("% x: %d, %d; longVarint %d, %d", b, v, n, v2, n2)
		}
		if n == 0 {
			if len(b) >= MaxVarintLen || slices.ContainsFunc(b, func(c byte) bool { return c < 0x80 }) {
				t.Fatalf("% x: not decoded", b)
			}
			return
		}
		if n > len(b) || n > MaxVarintLen || n < VarintLen(v) {
			t.Fatalf("% x: %d in %d bytes, at least %d", b, v, n, VarintLen(v))
		}
		again := AppendVarint(nil, v)
		if got, m := Varint(again); got != v || m != len(again) || m != VarintLen(v) {
			t.Fatalf("% x: %d encoded as % x, which is %d in %d bytes", b, v, again, got, m)
		}
		if n == len(again) && !bytes.Equal(again, b[:n]) {
			t.Fatalf("% x: %d encoded as % x", b[:n], v, again)
		}
	})
}

func FuzzHeader(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		h, what := ParseHeader(b)
		if what != "" {
			return
		}
		if h.Usable() < MinUsableSize || h.Usable() > MaxPageSize || h.LockPage() < 2 {
			t.Fatalf("%+v", h)
		}
		again := make([]byte, HeaderSize)
		h.Put(again)
		if got, what := ParseHeader(again); got != h {
			t.Fatalf("%+v encoded and decoded as %+v, %s", h, got, what)
		}
		for i, c := range again {
			loose := i >= 28 && i < 32 || i >= 56 && i < 60 || i >= 64 && i < 68 || i >= 72 && i < 92
			if c != b[i] && !loose {
				t.Fatalf("byte %d: %#x encoded as %#x", i, b[i], c)
			}
		}
	})
}

func FuzzPageHeader(f *testing.F) {
	f.Fuzz(func(t *testing.T, page []byte, first bool) {
		at := PageHeaderAt(2)
		if first {
			at = PageHeaderAt(1)
		}
		h, ok := ParsePageHeader(page, at)
		if !ok {
			return
		}
		again := bytes.Clone(page)
		clear(again[at : at+h.Kind.HeaderLen()])
		h.Put(again, at)
		if !bytes.Equal(again, page) {
			t.Fatalf("%+v: % x encoded as % x", h, page[at:at+12], again[at:at+12])
		}
	})
}

func FuzzCell(f *testing.F) {
	f.Fuzz(func(t *testing.T, page []byte, kind byte, usable uint16, off int) {
		k := PageKind(kind)
		if !k.Valid() {
			return
		}
		s := SpillOf(k, max(int(usable)+1, MinUsableSize)) // up to 65536
		c, ok := ParseCell(page, k, s, off)
		if !ok {
			return
		}
		spills := uint64(len(c.Local)) < c.Payload
		if uint64(len(c.Local)) > c.Payload || cap(c.Local) != len(c.Local) || spills != (c.Payload > uint64(s.max)) {
			t.Fatalf("%+v: local %d, capacity %d", c, len(c.Local), cap(c.Local))
		}
		if spills && c.Overflow == 0 {
			return // a chain that ends before it begins: it decodes, and nobody writes it
		}
		again := c.Append(nil, k)
		got, ok := ParseCell(again, k, s, 0)
		if !ok || !sameCell(got, c) {
			t.Fatalf("%+v encoded as % x and decoded as %+v, %t", c, again, got, ok)
		}
	})
}

// sameCell reports whether two cells say the same. Their sizes may differ where one has varints
// longer than need be.
func sameCell(a, b Cell) bool {
	return a.Child == b.Child && a.Rowid == b.Rowid && a.Payload == b.Payload && bytes.Equal(a.Local, b.Local) &&
		a.Overflow == b.Overflow && a.Size <= b.Size
}

func FuzzSpill(f *testing.F) {
	f.Fuzz(func(t *testing.T, payload uint64, kind byte, usable uint16) {
		k := PageKind(kind)
		if !k.Valid() || k == InteriorTable { // which has no payload
			return
		}
		u := max(int(usable)+1, MinUsableSize)
		local := SpillOf(k, u).Local(payload)
		if want := spillByTheBook(payload, k, u); uint64(local) != want {
			t.Fatalf("payload %d in a page of %d: %d local, want %d", payload, u, local, want)
		}
	})
}

// spillByTheBook computes the formula of fileformat2.html, section 1.6, in its own letters.
func spillByTheBook(p uint64, kind PageKind, usable int) uint64 {
	u := uint64(usable)
	x := u - 35
	if !kind.Table() {
		x = (u-12)*64/255 - 23
	}
	m := (u-12)*32/255 - 23
	if p <= x {
		return p
	}
	if k := m + (p-m)%(u-4); k <= x {
		return k
	}
	return m
}

func FuzzRecord(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		header, body, ok := RecordHeader(b)
		if !ok {
			return
		}
		if len(header) > len(b) || body > len(b) || body > 0 && uint64(body) != RecordHeaderLen(b) {
			t.Fatalf("% x: header of %d, body at %d", b, len(header), body)
		}
		types, values, ok := parseRecord(b)
		if !ok {
			return
		}
		again := appendRecord(nil, types, values)
		types2, values2, ok := parseRecord(again)
		if !ok || !slices.Equal(types2, types) || !slices.EqualFunc(values2, values, sameValue) {
			t.Fatalf("%v, %v encoded as % x and decoded as %v, %v", types, values, again, types2, values2)
		}
	})
}

func sameValue(a, b value) bool {
	if x, ok := a.(float64); ok {
		y, ok := b.(float64)
		return ok && math.Float64bits(x) == math.Float64bits(y) // NaN too
	}
	if x, ok := a.([]byte); ok {
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	}
	return a == b
}

func FuzzInt(f *testing.F) {
	f.Fuzz(func(t *testing.T, v int64) {
		best := IntType(v)
		for typ := range SerialType(10) {
			if !typ.IsInt() {
				continue
			}
			b := AppendInt(nil, typ, v)
			fits := typ.Int(b) == v
			if uint64(len(b)) != typ.Size() || fits && typ.Size() < best.Size() || typ == best && !fits {
				t.Fatalf("%d: type %d reads % x as %d; the best is %d", v, typ, b, typ.Int(b), best)
			}
		}
	})
}

func FuzzTrunk(f *testing.F) {
	f.Fuzz(func(t *testing.T, page []byte) {
		trunk, ok := ParseTrunk(page)
		if !ok {
			return
		}
		if trunk.Len() > TrunkLimit(len(page)) {
			t.Fatalf("%d leaves in a page of %d", trunk.Len(), len(page))
		}
		var leaves []uint32
		for i := range trunk.Len() {
			leaves = append(leaves, trunk.Leaf(i))
		}
		again := bytes.Clone(page)
		clear(again[:8+4*len(leaves)])
		PutTrunk(again, trunk.Next, leaves)
		if !bytes.Equal(again, page) {
			t.Fatalf("next %d, leaves %d: encoded otherwise", trunk.Next, leaves)
		}
	})
}

func FuzzPointer(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		p, ok := ParsePointer(b)
		if !ok {
			return
		}
		again := make([]byte, PointerSize)
		p.Put(again)
		if !p.Type.Valid() || !bytes.Equal(again, b[:PointerSize]) {
			t.Fatalf("% x: %+v encoded as % x", b, p, again)
		}
	})
}

func FuzzPtrmapPage(f *testing.F) {
	f.Fuzz(func(t *testing.T, pgno uint32, shift, reserved byte) {
		pageSize := MinPageSize << (shift % 8)
		usable := max(pageSize-int(reserved), MinUsableSize)
		pgno = min(pgno, MaxPage)
		p := PtrmapPage(pgno, pageSize, usable)
		if p == 0 != (pgno < 2) {
			t.Fatalf("page %d: pointer map %d", pgno, p)
		}
		if p > 0 && (p == LockPage(pageSize) || !IsPtrmapPage(p, pageSize, usable) || p > pgno && pgno != LockPage(pageSize)) {
			t.Fatalf("page %d of %d bytes, %d usable: pointer map %d", pgno, pageSize, usable, p)
		}
		off, ok := PtrmapOffset(pgno, pageSize, usable)
		if ok == (p == 0 || p == pgno || pgno == LockPage(pageSize)) || ok && (off < 0 || off > usable-PointerSize) {
			t.Fatalf("page %d of %d bytes, %d usable: offset %d, %t", pgno, pageSize, usable, off, ok)
		}
	})
}

func FuzzChecksum(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte, bigEndian bool, s0, s1 uint32) {
		start := Checksum{s0, s1}
		got := start.Add(b, bigEndian)
		order := binary.ByteOrder(binary.LittleEndian)
		if bigEndian {
			order = binary.BigEndian
		}
		for pair := range slices.Chunk(b[:len(b)&^7], 8) {
			s0 += order.Uint32(pair) + s1
			s1 += order.Uint32(pair[4:]) + s0
		}
		if got != (Checksum{s0, s1}) {
			t.Fatalf("got %08x, want %08x", got, Checksum{s0, s1})
		}
		half := len(b) / 2 &^ 7
		if parts := start.Add(b[:half], bigEndian).Add(b[half:], bigEndian); parts != got {
			t.Fatalf("in one part %08x, in two %08x", got, parts)
		}
		if words := start.addWords(walIndexWords(b[:len(b)&^7], bigEndian)); words != got {
			t.Fatalf("as bytes %08x, as words %08x", got, words)
		}
	})
}

func FuzzWALHeader(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal { // few inputs have the checksum that belongs to them
			b = sealWALHeader(bytes.Clone(b))
		}
		h, ok := ParseWALHeader(b)
		if !ok {
			return
		}
		again := make([]byte, WALHeaderSize)
		sum := h.Checksum
		h.Checksum = Checksum{}
		if h.Put(again); h.Checksum != sum || !bytes.Equal(again, b[:WALHeaderSize]) {
			t.Fatalf("%+v: % x encoded as % x", h, b[:WALHeaderSize], again)
		}
	})
}

func sealWALHeader(b []byte) []byte {
	if len(b) >= WALHeaderSize {
		sum := Checksum{}.Add(b[:24], b[3]&1 == 1)
		binary.BigEndian.PutUint32(b[24:], sum[0])
		binary.BigEndian.PutUint32(b[28:], sum[1])
	}
	return b
}

func FuzzFrame(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte, bigEndian bool, prev0, prev1 uint32) {
		frame, ok := ParseFrameHeader(b)
		if !ok {
			return
		}
		again := make([]byte, FrameHeaderSize)
		frame.Put(again)
		if !bytes.Equal(again, b[:FrameHeaderSize]) {
			t.Fatalf("%+v: % x encoded as % x", frame, b[:FrameHeaderSize], again)
		}
		page, prev := b[FrameHeaderSize:], Checksum{prev0, prev1}
		h := WALHeader{BigEndian: bigEndian, PageSize: len(page), Salt: frame.Salt}
		sealed := frame
		sealed.Seal(&h, prev, page)
		if frame.Follows(&h, prev, page) != (frame == sealed && frame.Page != 0) {
			t.Fatalf("%+v: valid %t, and sealed it is %+v", frame, frame.Follows(&h, prev, page), sealed)
		}
		h.Salt[1]++
		if sealed.Follows(&h, prev, page) || sealed.Follows(&h, prev, nil) {
			t.Fatalf("%+v is valid in another log", sealed)
		}
	})
}

func FuzzWALIndexHeader(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte, bigEndian, seal bool) {
		if len(b) != 48 {
			return
		}
		w := WALIndexWords(walIndexWords(b, bigEndian))
		if seal {
			sum := Checksum{}.addWords(w[:10])
			w[10], w[11] = sum[0], sum[1]
		}
		h, ok := parseWALIndexHeader(&w, bigEndian)
		if !ok {
			return
		}
		again := h.words(bigEndian)
		if got, ok := parseWALIndexHeader(&again, bigEndian); !ok || got != h {
			t.Fatalf("%+v encoded as %08x and decoded as %+v, %t", h, again, got, ok)
		}
		canonical := w[1] == 0 && b[12] == 1 && b[13] <= 1
		if canonical && again != w {
			t.Fatalf("%+v: %08x encoded as %08x", h, w, again)
		}
		if bigEndian == hostBigEndian && h.Words() != again {
			t.Fatalf("%+v: %08x on this machine, %08x on one like it", h, h.Words(), again)
		}
	})
}

func FuzzJournalHeader(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		h, ok := ParseJournalHeader(b)
		if !ok {
			return
		}
		again := make([]byte, JournalHeaderSize)
		h.Put(again)
		if !bytes.Equal(again, b[:JournalHeaderSize]) {
			t.Fatalf("%+v: % x encoded as % x", h, b[:JournalHeaderSize], again)
		}
		if !h.ValidSizes() {
			return
		}
		next := JournalNextSegment(int64(h.Records), h.SectorSize)
		if next%int64(h.SectorSize) != 0 || next < int64(h.Records) || next >= int64(h.Records)+int64(h.SectorSize) {
			t.Fatalf("%+v: a segment at %d after %d", h, next, h.Records)
		}
	})
}

func FuzzJournalRecord(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte, nonce uint32) {
		r, ok := ParseJournalRecord(b)
		if !ok {
			return
		}
		if again := r.Append(nil); !bytes.Equal(again, b) || len(b) != JournalRecordSize(len(r.Content)) {
			t.Fatalf("a record of %d bytes encoded otherwise", len(b))
		}
		valid := r.Valid(nonce)
		r.Checksum = JournalChecksum(nonce, r.Content)
		if lock := LockPage(len(r.Content)); r.Valid(nonce) != (r.Page != 0 && r.Page != lock) || valid && !r.Valid(nonce) {
			t.Fatalf("page %d: valid %t, with its checksum %t", r.Page, valid, r.Valid(nonce))
		}
		if r.Checksum++; r.Valid(nonce) {
			t.Fatalf("page %d: valid with another checksum", r.Page)
		}
	})
}

func FuzzSuperJournal(f *testing.F) {
	f.Fuzz(func(t *testing.T, tail []byte) {
		name, ok := SuperJournal(tail)
		if !ok {
			if name != "" {
				t.Fatalf("name %q, which is none", name)
			}
			return
		}
		if name == "" || len(name) > len(tail)-16 || bytes.IndexByte([]byte(name), 0) >= 0 {
			t.Fatalf("name %q in %d bytes", name, len(tail))
		}
		for _, signed := range []bool{false, true} {
			if got, ok := SuperJournal(appendSuperJournal(nil, 2097153, name, signed)); !ok || got != name {
				t.Fatalf("name %q encoded and decoded as %q, %t", name, got, ok)
			}
		}
	})
}

// appendSuperJournal writes the end of a journal as SQLite does.
func appendSuperJournal(b []byte, lockPage uint32, name string, signed bool) []byte {
	b = binary.BigEndian.AppendUint32(b, lockPage)
	b = append(b, name...)
	sum := uint32(0)
	for _, c := range []byte(name) {
		sum += uint32(c)
		if signed && c >= 0x80 {
			sum -= 256
		}
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
	b = binary.BigEndian.AppendUint32(b, sum)
	return append(b, journalMagic...)
}
