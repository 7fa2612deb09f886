package workload

import (
	"fmt"
)

// put stores values by random keys, the work of a store of keys and values.
var put = &Workload{
	Name:  "put",
	Short: "values by random keys, one writer and many",
	Flags: []Flag{
		{"shape", "sequential,concurrent", "", "sequential: puts in a loop; concurrent: by many writers", "sequential,concurrent"},
		{"durability", "none", "", "the promise of a commit: none, log-consistent, durable", groups},
		{"puts", "10000", "300", "puts of the one writer of sequential", number},
		{"writers", "100", "10", "goroutines of concurrent", number},
		{"records", "1000", "30", "puts of each writer of concurrent", number},
		{"size", "100", "", "bytes of a value", number},
	},
	Varied: []string{"shape", "durability"},
	Unit:   "put",
	Questions: map[string]string{
		"sequential": "How many values a second does one writer put?",
		"concurrent": "How many values a second do many writers put?",
	},
	Description: "Each value has another key, in random order, and a transaction of its own; the store is read back at the end.",
	Supports:    func(a *API) bool { return a.Pairs != nil },
	Needs:       "values by keys",
	Start:       startPut,
	Want:        wantPut,
	Ops:         func(j *Job) int64 { writers, each := j.puts(); return int64(writers) * int64(each) },
	Settings:    writeSettings,
}

// PairSchema is the table in SQL.
var PairSchema = []string{"CREATE TABLE pair (key INTEGER PRIMARY KEY, value BLOB)"}

// Pairs is a store of values by key.
type Pairs interface {
	// Session opens a connection for one goroutine.
	Session() (PairSession, error)
	// Busy counts how often an operation was refused because of another writer, and tried again.
	Busy() int64
	Close() error
}

// A PairSession stores pairs; each call of Put commits.
type PairSession interface {
	// Put gives a key a value, be the key new or not.
	Put(key int64, value []byte) error
	// Each calls fn for every pair that there is. The value is valid until fn returns.
	Each(fn func(key int64, value []byte) error) error
	session
}

// puts is how much a job writes.
func (j *Job) puts() (writers, each int) {
	if j.Values["shape"] == "sequential" {
		return 1, j.Values.Int("puts")
	}
	return j.Values.Int("writers"), j.Values.Int("records")
}

// A pair is a key and its value.
type pair struct {
	key   int64
	value []byte
}

// pairs returns the pairs of one writer. Keys are spread by their high bits, and differ by the low
// ones.
func (j *Job) pairs(writer int) []pair {
	_, each := j.puts()
	r := Rand(mix(j.Seed) + mix(uint64(writer)))
	out := make([]pair, each)
	for i := range out {
		key := int64(r.Next()>>33<<31) | int64(writer*each+i)
		out[i] = pair{key, fmt.Appendf(nil, "%0*d", j.Values.Int("size"), key)}
	}
	return out
}

func wantPut(j *Job) (a Answer, err error) {
	writers, _ := j.puts()
	for i := range writers {
		for _, p := range j.pairs(i) {
			a.AddBytes(p.key, p.value)
		}
	}
	return a, nil
}

func startPut(j *Job, a *API) (*Work, error) {
	store, err := a.Pairs(j)
	if err != nil {
		return nil, err
	}
	w := &Work{Busy: store.Busy, Close: store.Close}
	writers, _ := j.puts()
	list, err := sessions(w, writers, store.Session)
	if err != nil {
		return nil, err
	}
	for i, s := range list {
		pairs := j.pairs(i) // before the clock starts
		w.Workers = append(w.Workers, func(r *Recorder) error {
			for _, p := range pairs {
				if err := commit(r, func() error { return s.Put(p.key, p.value) }); err != nil {
					return err
				}
			}
			return nil
		})
	}
	w.Answer = func() (a Answer, err error) {
		err = list[0].Each(func(key int64, value []byte) error {
			a.AddBytes(key, value)
			return nil
		})
		return a, err
	}
	return w, nil
}
