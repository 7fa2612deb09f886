package workload

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// load stores many rows at once.
var load = &Workload{
	Name:  "load",
	Short: "many rows with two indexes, in one transaction",
	Flags: []Flag{
		{"rows", "1000000", "20000", "rows", number},
		{"order", "random", "", "of the rowids as they come: random, sorted", "random,sorted"},
		{"durability", "log-consistent", "", "the promise at the end: none, log-consistent, durable", groups},
	},
	Varied:      []string{"order", "durability"},
	Unit:        "row",
	Question:    "How fast are many rows stored at once?",
	Description: "Rows with an index by a number and one by a text, both random, in one transaction; rows and the order of both indexes are read back.",
	Supports:    func(a *API) bool { return a.Items != nil },
	Needs:       "table with indexes",
	Start:       startLoad,
	Want:        wantLoad,
	Ops:         func(j *Job) int64 { return int64(j.Values.Int("rows")) },
	Settings:    writeSettings,
}

// An Item is a row to load.
type Item struct {
	ID   int64
	A    int64  // with an index
	B    string // with an index
	Body string
}

// ItemSchema is the table in SQL.
var ItemSchema = []string{
	"CREATE TABLE item (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, body TEXT)",
	"CREATE INDEX item_a ON item (a)",
	"CREATE INDEX item_b ON item (b)",
}

// Items is a store of items.
type Items interface {
	// Load stores all of them in one transaction.
	Load(items []Item) error
	// Each calls fn for every item.
	Each(fn func(it *Item) error) error
	// By calls fn for the number of every one, in the order of an indexed column, a or b.
	By(column string, fn func(id int64) error) error
	Settings() (map[string]string, error)
	Close() error
}

// items returns the items of a job. Random numbers are spread by their high bits, and differ by the
// low ones.
func (j *Job) items() []Item {
	r := Rand(mix(j.Seed))
	out := make([]Item, j.Values.Int("rows"))
	for i := range out {
		id := int64(i) + 1
		if j.Values["order"] == "random" {
			id |= int64(r.Next() >> 34 << 32)
		}
		out[i] = Item{ID: id, A: int64(r.Next() >> 1), B: fmt.Sprintf("%016x", r.Next()), Body: "some bytes beside the keys"}
	}
	return out
}

func wantLoad(j *Job) (a Answer, err error) {
	items := j.items()
	for i := range items {
		a.Add(items[i].ID, items[i].text())
	}
	slices.SortFunc(items, func(x, y Item) int { return cmp.Compare(x.A, y.A) })
	for i := range items {
		a.Add(items[i].ID, place("a", i))
	}
	slices.SortFunc(items, func(x, y Item) int { return cmp.Compare(x.B, y.B) })
	for i := range items {
		a.Add(items[i].ID, place("b", i))
	}
	return a, nil
}

// text is all of a row.
func (it *Item) text() string { return fmt.Sprint(it.A) + it.B + it.Body }

// place says where an item stands in an index.
func place(column string, i int) string {
	return string(binary.BigEndian.AppendUint64([]byte(column), uint64(i)))
}

func startLoad(j *Job, a *API) (*Work, error) {
	store, err := a.Items(j)
	if err != nil {
		return nil, err
	}
	items := j.items()
	return single(store, func() (Answer, error) { return loaded(store) }, func() (int64, error) {
		return int64(len(items)), store.Load(items)
	})
}

// loaded returns the content of a store.
func loaded(store Items) (a Answer, err error) {
	err = store.Each(func(it *Item) error {
		a.Add(it.ID, it.text())
		return nil
	})
	for _, column := range []string{"a", "b"} {
		if err != nil {
			return a, err
		}
		i := 0
		err = store.By(column, func(id int64) error {
			a.Add(id, place(column, i))
			i++
			return nil
		})
	}
	return a, err
}
