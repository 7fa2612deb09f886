package result

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func ptr[T any](v T) *T { return &v }

// records are a small run.
func records() []Record {
	when := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	sample := Sample{
		Case: "lookup/by=id", Contender: "mattn:sql", Round: 1, Time: when, Ops: 1000, Seconds: 0.5, Checked: 1000,
		Latency: Latency{Timed: 100, P50: 400, P90: 900, P99: 2000, Max: 5000, Curve: []Quantile{{At: 0.5, Time: 400}, {At: 1, Time: 5000}}},
		Use:     Use{Allocs: ptr(int64(3000)), UserSeconds: ptr(0.25), SystemSeconds: ptr(0.125), PeakMemory: ptr(int64(1 << 20))},
		Size:    ptr(int64(8192)), WarmUp: WarmUp{Ops: 10, Seconds: 0.01}, Settings: map[string]string{"page_size": "4096"}, Connections: 1,
	}
	second := sample
	second.Round, second.Seconds = 2, 0.25
	return []Record{
		{Run: &Run{Format: Format, ID: "a", Started: when, Command: "go -C lab run . run lookup", Rounds: 2, Machine: Machine{OS: "linux", Arch: "amd64", Cores: 2, CPU: "one"}}},
		{Contender: &Contender{ID: "mattn:sql", Name: "mattn", API: "sql", Kind: KindSQL}},
		{Case: &Case{ID: "lookup/by=id", Workload: "lookup", Params: []Param{{Name: "by", Value: "id"}}, Group: "read", Dir: "/data", Unit: "read"}},
		{Skip: &Skip{Contender: "tailscale", Reason: "refused"}},
		{Sample: &sample},
		{Failure: &Failure{Case: "lookup/by=id", Contender: "mattn:sql", Round: 2, Kind: FailureCrash, Error: "signal: killed"}},
		{Sample: &second},
		{End: &End{Ended: when, Samples: 2, Failures: 1}},
	}
}

// write makes a file of records.
func write(t *testing.T, records []Record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A reader gets the records that the writer wrote.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	want := records()
	s, err := ReadFile(write(t, want))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s.Run, *want[0].Run) || !reflect.DeepEqual(s.Of("lookup/by=id", "mattn:sql"), []*Sample{want[4].Sample, want[6].Sample}) {
		t.Errorf("read %+v", s)
	}
	if len(s.In("lookup/by=id")) != 1 || len(s.Skips) != 1 || len(s.Failures) != 1 || s.End == nil {
		t.Errorf("read %+v", s)
	}
	if !s.Has(Cell{"lookup/by=id", "mattn:sql"}, 2) || s.Has(Cell{"lookup/by=id", "mattn:sql"}, 3) {
		t.Error("Has does not tell the rounds")
	}
}

// Wherever a file is cut off, it is read up to its last whole line, and goes on from there.
func TestCutOff(t *testing.T) {
	t.Parallel()
	want := records()
	path := write(t, want)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(data, '\n') + 1
	for n := first; n <= len(data); n += 7 {
		whole := bytes.Count(data[:n], []byte("\n"))
		if err := os.WriteFile(path, data[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		w, err := Resume(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range want[whole:] {
			if err := w.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("cut off at %d and resumed, the file differs: %v", n, err)
		}
	}
}

// A file that is not a result file is refused in a line that says so.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	header := `{"run":{"format":1,"id":"a"}}` + "\n"
	for name, tt := range map[string]struct{ text, want string }{
		"empty":           {"", "it is empty"},
		"not JSON":        {"hello\n", "line 1: not a result file"},
		"no header":       {`{"skip":{}}` + "\n", "does not begin with a run"},
		"a later format":  {`{"run":{"format":99}}` + "\n", "result format 99, this laboratory reads 1"},
		"two runs":        {header + `{"run":{"format":1,"id":"b"}}` + "\n", "two runs in one file"},
		"unknown case":    {header + `{"sample":{"case":"x","contender":"y"}}` + "\n", "line 2: a sample of y in x"},
		"a line too long": {strings.Repeat(" ", maxLine+1), "not a result file"},
	} {
		if _, err := Read(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	path := write(t, records())
	if _, err := Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create of a file that is there: %v", err)
	}
}
