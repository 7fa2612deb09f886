package workload

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
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
	Supports:    takes(ItemTable),
	Needs:       "table with indexes",
	Start:       startLoad,
	Want:        wantLoad,
	Ops:         func(j *Job) int64 { return int64(j.Values.Int("rows")) },
	Settings:    writeSettings,
}

// An item is a row to load. It is smaller than a list of values: a million of these would show in
// the memory of each contender.
type item struct {
	id, a   int64
	b, body string
}

// items returns the items of a job. Random numbers are spread by their high bits, and differ by the
// low ones.
func (j *Job) items() []item {
	r := Rand(mix(j.Seed))
	out := make([]item, j.Values.Int("rows"))
	for i := range out {
		id := int64(i) + 1
		if j.Values["order"] == "random" {
			id |= int64(r.Next() >> 34 << 32)
		}
		out[i] = item{id, int64(r.Next() >> 1), fmt.Sprintf("%016x", r.Next()), "some bytes beside the keys"}
	}
	return out
}

func wantLoad(j *Job) (a Answer, err error) {
	items := j.items()
	for _, it := range items {
		a.Add(it.id, fmt.Sprint(it.a)+it.b+it.body)
	}
	slices.SortFunc(items, func(x, y item) int { return cmp.Compare(x.a, y.a) })
	for i := range items {
		a.Add(items[i].id, place("a", i))
	}
	slices.SortFunc(items, func(x, y item) int { return cmp.Compare(x.b, y.b) })
	for i := range items {
		a.Add(items[i].id, place("b", i))
	}
	return a, nil
}

// place says where an item stands in an index.
func place(column string, i int) string {
	return string(binary.BigEndian.AppendUint64([]byte(column), uint64(i)))
}

func startLoad(j *Job, a *API) (*Work, error) {
	store, err := loader(j, a, ItemTable)
	if err != nil {
		return nil, err
	}
	items, row := j.items(), make([]Value, len(ItemTable.Columns))
	return single(store, func() (Answer, error) { return loaded(store) }, func() (int64, error) {
		return int64(len(items)), store.Load(len(items), func(i int) []Value {
			it := &items[i]
			row[0], row[1], row[2], row[3] = Int(it.id), Int(it.a), Str(it.b), Str(it.body)
			return row
		})
	})
}

// loaded returns the content of a store.
func loaded(store RowLoader) (a Answer, err error) {
	var text []byte
	err = store.Each(func(row Row) error {
		text = strconv.AppendInt(text[:0], row.Int(1), 10)
		text = append(text, row.Bytes(2)...)
		a.AddBytes(row.Int(0), append(text, row.Bytes(3)...))
		return nil
	})
	for i, c := range ItemTable.Columns {
		if err != nil || !c.Indexed {
			continue
		}
		at := 0
		err = store.By(i, func(id int64) error {
			a.Add(id, place(c.Name, at))
			at++
			return nil
		})
	}
	return a, err
}
