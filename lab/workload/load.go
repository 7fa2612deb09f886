package workload

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

// load stores many rows at once.
var load = &Workload{
	Name:  "load",
	Short: "many rows with two indexes, in one transaction",
	Flags: []Flag{
		{"rows", "1000000", "20000", "rows"},
		{"order", "random", "", "of the rowids as they come: random, sorted"},
		{"durability", "log-consistent", "", "what is promised when it is done: none, log-consistent, durable"},
	},
	Cases:    loadCases,
	Able:     func(a *API) bool { return a.Items != nil },
	Needs:    "table with indexes",
	Start:    startLoad,
	Want:     wantLoad,
	Ops:      func(j *Job) int64 { return int64(j.Values.Int("rows")) },
	Settings: writeSettings,
}

func loadCases(v Values) ([]Case, error) {
	orders, err1 := v.oneOf("order", "random", "sorted")
	groups, err2 := v.oneOf("durability", string(None), string(Consistent), string(Durable))
	if err := cmp.Or(err1, err2, v.positive("rows")); err != nil {
		return nil, err
	}
	var cases []Case
	for params := range combinations([]string{"order", "durability"}, orders, groups) {
		cases = append(cases, Case{
			Params: params, Group: Group(params[1].Value), Unit: "row", Span: "transaction", Question: "How fast are many rows stored at once?",
			Description: "Rows with an index by a number and one by a text, both random, in one transaction; rows and the order of both indexes are read back.",
		})
	}
	return cases, nil
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
	// Each calls fn for every one that there is.
	Each(fn func(it *Item) error) error
	// By calls fn for the number of every one, in the order of an indexed column, a or b.
	By(column string, fn func(id int64) error) error
	Settings() (map[string]string, error)
	Close() error
}

// items are those of a job. Random numbers are spread by their high bits, and differ by the low ones.
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
	settings, err := store.Settings()
	if err != nil {
		return nil, err
	}
	items := j.items()
	return &Work{
		Settings: []map[string]string{settings},
		Workers: []Worker{func(r *Recorder) error {
			begin := time.Now()
			err := store.Load(items)
			r.Many(int64(len(items)), time.Since(begin))
			return err
		}},
		Answer: func() (a Answer, err error) { return loaded(store) },
		Close:  store.Close,
	}, nil
}

// loaded is what a store holds.
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
