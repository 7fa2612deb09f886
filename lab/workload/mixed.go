package workload

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// mixed reads while others write.
var mixed = &Workload{
	Name:  "mixed",
	Short: "readers beside writers, on one table",
	Flags: []Flag{
		{"readers", "1,22", "4", "goroutines that read"},
		{"writers", "1", "", "goroutines that write for as long as the others read"},
		{"tasks", "2000", "300", "rows"},
		{"reads", "100000", "5000", "reads in a sample, of all readers together"},
		{"durability", "log-consistent", "", "of the writers: none, log-consistent, durable"},
	},
	Cases:    mixedCases,
	Able:     func(a *API) bool { return a.Tasks != nil },
	Needs:    "records to read and write at once",
	Start:    startMixed,
	Want:     wantMixed,
	Ops:      func(j *Job) int64 { return int64(j.Values.Int("reads")) },
	Settings: writeSettings,
}

func mixedCases(v Values) ([]Case, error) {
	groups, err := v.oneOf("durability", string(None), string(Consistent), string(Durable))
	if err := cmp.Or(err, v.positive("readers", "writers", "tasks", "reads")); err != nil {
		return nil, err
	}
	var cases []Case
	for params := range combinations([]string{"durability", "writers", "readers"}, groups, v.List("writers"), v.List("readers")) {
		cases = append(cases, Case{
			Params: params, Group: Group(params[0].Value), Axis: "readers", Unit: "read", Question: "How fast is reading while others write?",
			Description: "Readers get random rows, each in a transaction of its own, while writers change rows without a pause; operations are reads, the series writes_per_second tells the rest.",
		})
	}
	return cases, nil
}

// mixedTask is row number i.
func mixedTask(i int) *Task {
	t := newTask(0, i)
	t.ID = int64(i) + 1
	return t
}

// mixedReads are the rows that reader i reads.
func (j *Job) mixedReads(i int) []int {
	out := make([]int, share(j.Values.Int("reads"), i, j.Values.Int("readers")))
	r := Rand(mix(j.Seed) + mix(uint64(i)))
	for k := range out {
		out[k] = int(r.Next() % uint64(j.Values.Int("tasks")))
	}
	return out
}

func wantMixed(j *Job) (a Answer, err error) {
	for i := range j.Values.Int("readers") {
		for _, n := range j.mixedReads(i) {
			t := mixedTask(n)
			a.Add(t.ID, t.Args)
		}
	}
	return a, nil
}

// A mixture is what readers and writers share.
type mixture struct {
	tasks   int
	reading atomic.Int64 // readers that are not done
	writes  atomic.Int64
	took    time.Duration
}

func startMixed(j *Job, a *API) (*Work, error) {
	store, err := a.Tasks(j)
	if err != nil {
		return nil, err
	}
	m := &mixture{tasks: j.Values.Int("tasks")}
	readers, writers := j.Values.Int("readers"), j.Values.Int("writers")
	m.reading.Store(int64(readers))
	w := &Work{Busy: store.Busy, Every: 4, Close: store.Close}
	list, err := sessions(w, readers+writers, store.Session)
	if err != nil {
		return nil, err
	}
	for i := range m.tasks {
		if err := list[0].Insert(mixedTask(i)); err != nil {
			return nil, err
		}
	}
	found := make([]Answer, readers)
	for i := range readers {
		ids := j.mixedReads(i)
		w.Workers = append(w.Workers, func(r *Recorder) error { return m.read(r, list[i], ids, &found[i]) })
	}
	for i := range writers {
		w.Workers = append(w.Workers, func(*Recorder) error { return m.write(list[readers+i], i, writers) })
	}
	w.Answer = func() (a Answer, err error) {
		for _, f := range found {
			a.Plus(f)
		}
		return a, nil
	}
	w.Series = m.series
	return w, nil
}

// read reads rows, and checks that each is as it was written: what never changes by its digest, the output as one of those that
// are written.
func (m *mixture) read(r *Recorder, s TaskSession, list []int, found *Answer) error {
	defer m.reading.Add(-1)
	for _, n := range list {
		id := int64(n + 1)
		start := r.Start()
		args, output, err := s.Get(id)
		if err != nil {
			return err
		}
		r.Stop(start)
		if o := string(output); !slices.Contains(outputs[:], o) && o != mixedTask(n).Output {
			return wrong("row %d has the output %q", id, o)
		}
		found.AddBytes(id, args)
	}
	return nil
}

// write changes the rows that are writer i's, until nobody reads any more.
func (m *mixture) write(s TaskSession, i, writers int) error {
	begin := time.Now()
	for n := i; m.reading.Load() > 0; n += writers {
		if err := s.SetOutput(int64(n%m.tasks+1), outputs[n%len(outputs)]); err != nil {
			return err
		}
		m.writes.Add(1)
	}
	if i == 0 {
		m.took = time.Since(begin)
	}
	return nil
}

func (m *mixture) series() map[string][]float64 {
	return map[string][]float64{"writes_per_second": {float64(m.writes.Load()) / m.took.Seconds()}}
}
