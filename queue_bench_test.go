package folio_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio"
)

var benchAlso = flag.String("bench.also", "", "directories of other file systems that BenchmarkTaskQueue compares with, separated by commas")

const (
	queueWriters = 100
	queueTasks   = 100 // of each writer
	queueOutputs = 10  // how often the output of a task is written
)

// A queueTask is what a task queue keeps of one task, in a file of its own.
type queueTask struct {
	ID     string   `json:"id"`
	Status string   `json:"status"`
	Cmd    string   `json:"cmd"`
	Args   []string `json:"args"`
	Output string   `json:"output"`
}

// A queueTarget is where a task queue lies.
type queueTarget struct {
	name   string
	write  func(name string, data []byte) error
	remove func(name string) error
}

// BenchmarkTaskQueue lets 100 writers put 100 tasks each into a queue that has a file for each task: the task is written, its status changes, its
// output is written ten times, each time with the whole file, and the file is removed. Files of the system are written plainly, and by a temporary file
// that is renamed; what a volume promises is more than either.
//
//	truncate -s 4G /tmp/btrfs.img && mkfs.btrfs -q /tmp/btrfs.img && mount -o loop /tmp/btrfs.img /mnt
//	go test . -run '^$' -bench TaskQueue -benchtime 1x -count 5 -bench.also /mnt
func BenchmarkTaskQueue(b *testing.B) {
	targets := []queueTarget{queueVolume(b)}
	for _, dir := range append([]string{*benchDir}, strings.FieldsFunc(*benchAlso, func(r rune) bool { return r == ',' })...) {
		targets = append(targets, queueDirs(b, dir)...)
	}
	round := 0
	for _, target := range targets {
		b.Run(target.name, func(b *testing.B) {
			for b.Loop() {
				round++
				var wg sync.WaitGroup
				for w := range queueWriters {
					wg.Go(func() { queueWrite(b, &target, fmt.Sprint(round, "-", w)) })
				}
				wg.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*queueWriters*queueTasks), "ns/task")
		})
	}
}

func queueVolume(b *testing.B) queueTarget {
	d, err := os.MkdirTemp(*benchDir, "folio")
	must(b, err)
	b.Cleanup(func() { _ = os.RemoveAll(d) })
	v, err := folio.Open(filepath.Join(d, "v.folio"), &folio.Options{Create: true})
	must(b, err)
	b.Cleanup(func() { must(b, v.Close()) })
	must(b, v.Mkdir("queue", 0o755))
	return queueTarget{
		name:   "folio",
		write:  func(name string, data []byte) error { return v.WriteFile("queue/"+name, data, 0o644) },
		remove: func(name string) error { return v.Remove("queue/" + name) },
	}
}

// queueDirs are the two ways to write files in a directory.
func queueDirs(b *testing.B, dir string) []queueTarget {
	d, err := os.MkdirTemp(dir, "folio")
	must(b, err)
	b.Cleanup(func() { _ = os.RemoveAll(d) })
	path := func(name string) string { return filepath.Join(d, name) }
	remove := func(name string) error { return os.Remove(path(name)) }
	base := fileSystem(d)
	return []queueTarget{
		{base + " plain", func(name string, data []byte) error { return os.WriteFile(path(name), data, 0o644) }, remove},
		{base + " rename", func(name string, data []byte) error { return writeRenamed(d, name, data, false) }, remove},
	}
}

// fileSystem returns the kind of file system that a directory lies on, as far as the system tells.
func fileSystem(dir string) string {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	kind, longest := "system", -1
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if len(f) > 2 && len(f[1]) > longest && strings.HasPrefix(dir+"/", strings.TrimRight(f[1], "/")+"/") {
			kind, longest = f[2], len(f[1])
		}
	}
	return kind
}

// queueWrite is one writer.
func queueWrite(b *testing.B, target *queueTarget, who string) {
	for i := range queueTasks {
		task := queueTask{ID: fmt.Sprint(who, "-", i), Status: "new", Cmd: "make", Args: []string{"-j", "2", "all"}}
		err := queueOne(target, &task)
		if err != nil {
			b.Error(err)
			return
		}
	}
}

// queueOne is the life of one task.
func queueOne(target *queueTarget, task *queueTask) error {
	name := task.ID + ".json"
	write := func() error {
		data, err := json.Marshal(task)
		if err == nil {
			err = target.write(name, data)
		}
		return err
	}
	if err := write(); err != nil {
		return err
	}
	task.Status = "running"
	if err := write(); err != nil {
		return err
	}
	for i := range queueOutputs {
		task.Output += fmt.Sprintf("line %d of what the task has to say\n", i)
		if err := write(); err != nil {
			return err
		}
	}
	return target.remove(name)
}
