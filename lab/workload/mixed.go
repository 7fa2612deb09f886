package workload

import (
	"slices"
	"sync/atomic"
	"time"
)

// mixed reads while other goroutines write.
var mixed = &Workload{
	Name:  "mixed",
	Short: "readers next to writers, on one table",
	Flags: []Flag{
		{"readers", "1,22", "4", "goroutines that read", number},
		{"writers", "1", "", "goroutines that write until the last reader is done", number},
		{"tasks", "2000", "300", "rows", number},
		{"reads", "100000", "5000", "reads in a sample, of all readers together", number},
		{"durability", "log-consistent", "", "of the writers: none, log-consistent, durable", groups},
	},
	Varied:      []string{"durability", "writers", "readers"},
	Axis:        "readers",
	Unit:        "read",
	Question:    "How fast is reading while others write?",
	Description: "Readers get random rows, each in a transaction of its own, while writers change rows without a pause; operations are reads, the series writes_per_second tells the rest.",
	Supports:    func(a *API) bool { return a.Tasks != nil },
	Needs:       "records to read and write at once",
	Start:       startMixed,
	Want:        wantMixed,
	Ops:         func(j *Job) int64 { return int64(j.Values.Int("reads")) },
	Settings:    writeSettings,
}

// mixedTask is row number i.
func mixedTask(i int) *Task {
	t := newTask(0, i)
	t.ID = int64(i) + 1
	return t
}

// mixedReads are the rows that reader i reads.
func (j *Job) mixedReads(i int) []int {
	return j.draw(0, i, j.Values.Int("reads"), j.Values.Int("readers"), j.Values.Int("tasks"))
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

// A mixture is the state that readers and writers share.
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

// read reads rows and checks each of them: the digest of the part that never changes, and that the
// the writers write the output.
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

// write changes the rows of writer i until the last reader is done.
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
