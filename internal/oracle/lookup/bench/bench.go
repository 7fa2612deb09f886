// Package bench is what the contenders of the lookup experiment share: flags, the right answers, the timing, and the
// line of JSON that a contender prints.
//
// Every goroutine has a connection of its own. Every read is a transaction of its own, on a statement that was prepared
// once where there are statements. Every answer is compared with one that was made from the seed before the clock
// started; a wrong one ends the program.
package bench

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/foliofs/folio/internal/oracle/cputime"
	"github.com/foliofs/folio/internal/oracle/folder/paths"
)

// Conn is one goroutine's way to the database.
type Conn interface {
	// Path appends the path of a row to buf.
	Path(id int64, buf []byte) ([]byte, error)
	// ID is the row of a path.
	ID(path string) (int64, error)
	// Close ends the connection.
	Close() error
}

// Contender opens connections.
type Contender struct {
	Name string
	// Open opens a connection to the database for reading; it is called once for each goroutine.
	Open func(o Options) (Conn, error)
	// Query gives the one value of a query, to report the settings in force. It is nil where there is no SQL.
	Query func(c Conn, query string) (string, error)
}

// Options are the flags.
type Options struct {
	DB         string
	By         string
	Reads      int
	Goroutines int
	Seed       uint64
	Rows       int
	Mmap       int64 // for PRAGMA mmap_size; less than 0 leaves it as it is
}

// Result is the line that a contender prints.
type Result struct {
	Contender  string            `json:"contender"`
	By         string            `json:"by"`
	Goroutines int               `json:"goroutines"`
	Reads      int               `json:"reads"`
	Seconds    float64           `json:"seconds"`
	CPUSeconds float64           `json:"cpu_seconds"` // of all cores; what a busy machine cannot blur
	Allocs     uint64            `json:"allocs"`
	Checked    int               `json:"checked"`
	Settings   map[string]string `json:"settings,omitempty"`
}

// Main is the whole of a contender's main.
func Main(c Contender) {
	o := parse()
	result, err := c.run(o)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.Name, err)
		os.Exit(1)
	}
}

func parse() Options {
	var o Options
	flag.StringVar(&o.DB, "db", "folder_paths.db", "database `file`")
	flag.StringVar(&o.By, "by", "id", "what to look up by: id or path")
	flag.IntVar(&o.Reads, "n", 200_000, "reads, in all goroutines together")
	flag.IntVar(&o.Goroutines, "g", 1, "goroutines")
	flag.Uint64Var(&o.Seed, "seed", 1, "seed of the paths in the database")
	flag.IntVar(&o.Rows, "rows", 1_000_000, "rows in the database")
	flag.Int64Var(&o.Mmap, "mmap", -1, "PRAGMA mmap_size in `bytes`; -1 leaves the default")
	flag.Parse()
	return o
}

func (c Contender) run(o Options) (*Result, error) {
	if o.By != "id" && o.By != "path" {
		return nil, fmt.Errorf("-by %s: want id or path", o.By)
	}
	if err := readAll(o.DB); err != nil {
		return nil, err
	}
	readers := make([]*reader, o.Goroutines)
	for i := range readers {
		conn, err := c.Open(o)
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		readers[i] = &reader{conn: conn, byPath: o.By == "path"}
	}
	r := &Result{Contender: c.Name, By: o.By, Goroutines: o.Goroutines}
	settings, err := c.settings(readers[0].conn)
	if err != nil {
		return nil, err
	}
	r.Settings = settings
	if err := warmUp(readers, o); err != nil {
		return nil, fmt.Errorf("warm-up: %w", err)
	}
	plan(readers, o, o.Reads, 2)
	return r, r.measure(readers)
}

// warmUp has every connection make a tenth of its reads, of other rows.
func warmUp(readers []*reader, o Options) error {
	plan(readers, o, o.Reads/10, 1)
	return together(readers)
}

// plan spreads reads evenly over the readers. Each phase draws other rows.
func plan(readers []*reader, o Options, reads int, phase uint64) {
	for i, r := range readers {
		rand := paths.Rand(phase<<32 | uint64(i))
		r.list = paths.Random(o.Seed, o.Rows, (reads+i)/len(readers), &rand)
	}
}

// measure runs the reads against the clock.
func (r *Result) measure(readers []*reader) error {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, cpu := time.Now(), cputime.Seconds()
	err := together(readers)
	r.Seconds, r.CPUSeconds = time.Since(start).Seconds(), cputime.Seconds()-cpu
	runtime.ReadMemStats(&after)
	r.Allocs = after.Mallocs - before.Mallocs
	for _, rd := range readers {
		r.Checked += rd.checked
	}
	r.Reads = r.Checked
	return err
}

// together lets all readers read at once and waits for them all.
func together(readers []*reader) error {
	errs := make([]error, len(readers))
	var wg sync.WaitGroup
	for i, r := range readers {
		wg.Go(func() { errs[i] = r.read() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// readAll brings the file into the system's cache. It comes before any connection, as closing the file would drop the
// locks of one.
func readAll(name string) error {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	for {
		n, err := f.Read(buf)
		if n == 0 {
			break
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settings asks the connection what is in force, since a wish in a name that is opened can be ignored.
func (c Contender) settings(conn Conn) (map[string]string, error) {
	if c.Query == nil {
		return nil, nil
	}
	out := make(map[string]string)
	for key, query := range map[string]string{
		"version": "SELECT sqlite_version()", "page_size": "PRAGMA page_size", "cache_size": "PRAGMA cache_size",
		"journal_mode": "PRAGMA journal_mode", "mmap_size": "PRAGMA mmap_size",
	} {
		v, err := c.Query(conn, query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		out[key] = v
	}
	return out, nil
}
