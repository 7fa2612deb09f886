package sqlitefile

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/pager"
)

// A crashState is what the database of a crash test holds: the model that it is compared with.
type crashState struct {
	version int64 // of the transactions that it consists of, the number of the last
	items   map[int64]crashItem
	words   map[crashWord]int64
	lines   map[int64]string // of a table without indexes, whose leaves DeleteRange drops
}

type crashItem struct {
	name string
	size int64
	body string
}

type crashWord struct{ lang, word string }

const crashSchema = `
CREATE TABLE mark (id INTEGER PRIMARY KEY, version INT NOT NULL);
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INT, body BLOB);
CREATE INDEX item_size ON item (size, name DESC);
CREATE TABLE word (lang TEXT, word TEXT, n INT, PRIMARY KEY (lang, word)) WITHOUT ROWID;
CREATE TABLE line (id INTEGER PRIMARY KEY, text TEXT)`

// newCrashState returns version 0, with some rows.
func newCrashState() *crashState {
	s := emptyCrashState()
	for i := range int64(12) {
		s.items[i] = crashItem{fmt.Sprintf("item %d", i), i * i, strings.Repeat("first ", firstRepeats(i))}
		s.words[crashWord{"en", fmt.Sprint(i)}] = i
		s.lines[i] = strings.Repeat("line ", firstRepeats(i))
	}
	return s
}

func emptyCrashState() *crashState {
	return &crashState{items: make(map[int64]crashItem), words: make(map[crashWord]int64), lines: make(map[int64]string)}
}

// firstRepeats makes one item in five long enough for overflow pages.
func firstRepeats(i int64) int {
	if i%5 == 4 {
		return int(40 * i)
	}
	return int(i)
}

func (s *crashState) clone() *crashState {
	return &crashState{s.version, maps.Clone(s.items), maps.Clone(s.words), maps.Clone(s.lines)}
}

// digest returns a number that equal states share, within this process.
func (s *crashState) digest() uint64 {
	b := binary.AppendVarint(nil, s.version)
	text := func(t string) { b = append(binary.AppendVarint(b, int64(len(t))), t...) }
	for _, id := range slices.Sorted(maps.Keys(s.items)) {
		item := s.items[id]
		b = binary.AppendVarint(binary.AppendVarint(b, id), item.size)
		text(item.name)
		text(item.body)
	}
	for _, k := range slices.SortedFunc(maps.Keys(s.words), crashWord.compare) {
		text(k.lang)
		text(k.word)
		b = binary.AppendVarint(b, s.words[k])
	}
	for _, id := range slices.Sorted(maps.Keys(s.lines)) {
		b = binary.AppendVarint(b, id)
		text(s.lines[id])
	}
	return maphash.Bytes(crashSeed, b)
}

func (k crashWord) compare(other crashWord) int {
	return cmp.Or(cmp.Compare(k.lang, other.lang), cmp.Compare(k.word, other.word))
}

var crashSeed = maphash.MakeSeed()

// build returns the bytes of a database with the state.
func (s *crashState) build(t *testing.T, pageSize int, wal bool) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	err := Build(t.Context(), path, &BuildOptions{PageSize: pageSize, NoSync: true}, func(b *Builder) error {
		for sql := range strings.SplitSeq(crashSchema, ";") {
			if err := b.Create(sql); err != nil {
				return err
			}
		}
		return s.append(b)
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	markWAL(data, wal)
	return data
}

func markWAL(data []byte, wal bool) {
	if wal {
		data[18], data[19] = format.VersionWAL, format.VersionWAL
	}
}

// insert returns the bytes of a database with pointer maps and the state, which transactions made.
func (s *crashState) insert(t *testing.T, pageSize, autoVacuum int, wal bool) []byte {
	t.Helper()
	fs := crashfs.New()
	if err := fs.WriteFile(crashPath, emptyDatabase(pageSize, autoVacuum)); err != nil {
		t.Fatal(err)
	}
	db, err := Open(crashPath, &Options{Durability: DurabilityOff, system: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), crashSchema); err != nil {
		t.Fatal(err)
	}
	update(t, db, s.fill)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := fs.ReadFile(crashPath)
	if err != nil {
		t.Fatal(err)
	}
	markWAL(data, wal)
	return data
}

func (s *crashState) fill(tx *Tx) error {
	mark, err := tx.Table("mark")
	if err != nil {
		return err
	}
	items, err := tx.Table("item")
	if err != nil {
		return err
	}
	words, err := tx.Table("word")
	if err != nil {
		return err
	}
	lines, err := tx.Table("line")
	if err != nil {
		return err
	}
	errs := []error{mark.Put(1, nil, s.version)}
	for id, item := range s.items {
		errs = append(errs, items.Put(id, nil, item.name, item.size, []byte(item.body)))
	}
	for k, n := range s.words {
		errs = append(errs, words.PutKey(k.lang, k.word, n))
	}
	for id, line := range s.lines {
		errs = append(errs, lines.Put(id, nil, line))
	}
	return dberr.Join(errs...)
}

func (s *crashState) append(b *Builder) error {
	var tables [4]*TableBuilder
	for i, name := range []string{"mark", "item", "word", "line"} {
		t, err := b.Table(name)
		if err != nil {
			return err
		}
		tables[i] = t
	}
	errs := []error{tables[0].Append(1, nil, s.version)}
	for _, id := range slices.Sorted(maps.Keys(s.items)) {
		item := s.items[id]
		errs = append(errs, tables[1].Append(id, nil, item.name, item.size, []byte(item.body)))
	}
	for _, k := range slices.SortedFunc(maps.Keys(s.words), crashWord.compare) {
		errs = append(errs, tables[2].AppendKey(k.lang, k.word, s.words[k]))
	}
	for _, id := range slices.Sorted(maps.Keys(s.lines)) {
		errs = append(errs, tables[3].Append(id, nil, s.lines[id]))
	}
	return dberr.Join(errs...)
}

// readCrashState returns what the database holds.
func readCrashState(rx *Rx) (*crashState, error) {
	s := emptyCrashState()
	return s, dberr.Join(s.readMark(rx), s.readItems(rx), s.readWords(rx), s.readLines(rx))
}

func (s *crashState) readMark(rx *Rx) error {
	table, err := rx.Table("mark")
	if err != nil {
		return err
	}
	row, ok, err := table.Get(1)
	if err != nil || !ok {
		return fmt.Errorf("mark: %v, %w", ok, err)
	}
	s.version, err = row.Int64(1)
	return err
}

func (s *crashState) readItems(rx *Rx) error {
	table, err := rx.Table("item")
	if err != nil {
		return err
	}
	for row, err := range table.All() {
		if err != nil {
			return err
		}
		var item crashItem
		var body []byte
		if err := row.Scan(nil, &item.name, &item.size, &body); err != nil {
			return err
		}
		item.body = string(body)
		s.items[row.Rowid()] = item
	}
	return nil
}

func (s *crashState) readWords(rx *Rx) error {
	table, err := rx.Table("word")
	if err != nil {
		return err
	}
	for row, err := range table.All() {
		if err != nil {
			return err
		}
		var k crashWord
		var n int64
		if err := row.Scan(&k.lang, &k.word, &n); err != nil {
			return err
		}
		s.words[k] = n
	}
	return nil
}

func (s *crashState) readLines(rx *Rx) error {
	table, err := rx.Table("line")
	if err != nil {
		return err
	}
	for row, err := range table.All() {
		if err != nil {
			return err
		}
		if s.lines[row.Rowid()], err = row.Text(1); err != nil {
			return err
		}
	}
	return nil
}

// advance makes the next version of s, and of the database, by so many changes besides that of the
// version.
func (s *crashState) advance(tx *Tx, rng *rand.Rand, changes int) error {
	s.version++
	mark, err := tx.Table("mark")
	if err != nil {
		return err
	}
	if _, err := mark.Update(1, nil, s.version); err != nil {
		return err
	}
	for range changes {
		if err := s.change(tx, rng); err != nil {
			return err
		}
	}
	return nil
}

// change does one change to both.
func (s *crashState) change(tx *Tx, rng *rand.Rand) error {
	items, err := tx.Table("item")
	if err != nil {
		return err
	}
	words, err := tx.Table("word")
	if err != nil {
		return err
	}
	switch id := rng.Int64N(30); rng.IntN(9) {
	case 0, 1, 2:
		item := crashItem{fmt.Sprintf("item %d of %d", id, s.version), rng.Int64N(100), strings.Repeat("x", crashBody(rng))}
		s.items[id] = item
		return items.Put(id, nil, item.name, item.size, []byte(item.body))
	case 3:
		_, ok := s.items[id]
		delete(s.items, id)
		return wantFound(items.Delete(id))(ok)
	case 4:
		maps.DeleteFunc(s.items, func(i int64, _ crashItem) bool { return id <= i && i <= id+4 })
		_, err := items.DeleteRange(id, id+4)
		return err
	case 7, 8:
		return s.changeLines(tx, rng)
	case 5:
		k := crashWord{"de", fmt.Sprint(id)}
		s.words[k] = s.version
		return words.PutKey(k.lang, k.word, s.version)
	default:
		k := crashWord{"en", fmt.Sprint(id)}
		delete(s.words, k)
		_, err := words.DeleteKey(k.lang, k.word)
		return err
	}
}

// changeLines deletes a range of lines, and puts others in other places.
func (s *crashState) changeLines(tx *Tx, rng *rand.Rand) error {
	lines, err := tx.Table("line")
	if err != nil {
		return err
	}
	low := rng.Int64N(60)
	high := low + rng.Int64N(40)
	maps.DeleteFunc(s.lines, func(i int64, _ string) bool { return low <= i && i <= high })
	if _, err := lines.DeleteRange(low, high); err != nil {
		return err
	}
	for range 8 {
		id := rng.Int64N(60)
		s.lines[id] = strings.Repeat("l", crashBody(rng))
		if err := lines.Put(id, nil, s.lines[id]); err != nil {
			return err
		}
	}
	return nil
}

// crashBody is small mostly, and sometimes takes overflow pages.
func crashBody(rng *rand.Rand) int {
	if rng.IntN(5) == 0 {
		return rng.IntN(3000)
	}
	return rng.IntN(120)
}

func wantFound(got bool, err error) func(bool) error {
	return func(want bool) error {
		if err == nil && got != want {
			err = fmt.Errorf("found is %v, want %v", got, want)
		}
		return err
	}
}

// emptyDatabase returns the one page of an empty database, which keeps pointer maps unless
// autoVacuum is 0, as PRAGMA auto_vacuum has it.
func emptyDatabase(pageSize, autoVacuum int) []byte {
	h := format.Header{
		PageSize: pageSize, WriteVersion: format.VersionRollback, ReadVersion: format.VersionRollback, SchemaFormat: 4,
		Encoding: format.UTF8, ChangeCounter: 1, VersionValidFor: 1, WriterVersion: pager.WriterVersion, Incremental: autoVacuum == 2,
	}
	if autoVacuum > 0 {
		h.LargestRoot = 1
	}
	page := make([]byte, pageSize)
	h.Put(page)
	btree.InitNode(page, 1, format.LeafTable, 0)
	return page
}
