package workload

import "fmt"

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
	Supports:    takes(PairTable),
	Needs:       "values by keys",
	Start:       startPut,
	Want:        wantPut,
	Ops:         func(j *Job) int64 { writers, each := j.puts(); return int64(writers) * int64(each) },
	Settings:    writeSettings,
}

// puts is how much a job writes.
func (j *Job) puts() (writers, each int) {
	if j.Values["shape"] == "sequential" {
		return 1, j.Values.Int("puts")
	}
	return j.Values.Int("writers"), j.Values.Int("records")
}

// pairs returns the rows of one writer. Keys are spread by their high bits, and differ by the low
// ones.
func (j *Job) pairs(writer int) [][]Value {
	_, each := j.puts()
	r := Rand(mix(j.Seed) + mix(uint64(writer)))
	out := make([][]Value, each)
	for i := range out {
		key := int64(r.Next()>>33<<31) | int64(writer*each+i)
		out[i] = []Value{Int(key), Bytes(fmt.Appendf(nil, "%0*d", j.Values.Int("size"), key))}
	}
	return out
}

func wantPut(j *Job) (a Answer, err error) {
	writers, _ := j.puts()
	for i := range writers {
		for _, p := range j.pairs(i) {
			a.AddBytes(p[0].Int, p[1].Bytes)
		}
	}
	return a, nil
}

func startPut(j *Job, a *API) (*Work, error) {
	n, _ := j.puts()
	return writers(j, a, PairTable, n, func(i int, s RowSession) Worker {
		pairs := j.pairs(i) // before the clock starts
		return func(r *Recorder) error {
			for _, p := range pairs {
				if err := commit(r, func() error { return s.Put(p) }); err != nil {
					return err
				}
			}
			return nil
		}
	}, func(a *Answer, row Row) { a.AddBytes(row.Int(0), row.Bytes(1)) })
}
