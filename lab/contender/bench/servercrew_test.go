//go:build unix

package bench

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
)

const (
	manyGoroutines = 100
	manyProcesses  = 4
	manySize       = 100

	// crewFiles are enough to outlast the start of the processes, whose connections are new in each
	// turn. Those of the floor stay open.
	crewFiles = 20_000
)

// fileName is the name of a file that a goroutine makes.
func fileName(goroutine, i int) string { return strconv.Itoa(goroutine) + "-" + strconv.Itoa(i) }

// repeat calls a function n times.
func repeat(n int, do func(i int) error) error {
	for i := range n {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// together lets goroutines call a function each times.
func together(goroutines, each int, do func(g, i int) error) error {
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() { errs[g] = repeat(each, func(i int) error { return do(g, i) }) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// createMany makes small files by many goroutines.
func createMany(t *turn) (any, error) {
	return nil, createTogether(t.keeper, t.dir, manyGoroutines, t.n/manyGoroutines)
}

func createTogether(k keeper, dir string, goroutines, each int) error {
	return together(goroutines, each, func(g, i int) error {
		name := dir + "/" + fileName(g, i)
		return k.create(name, content(name, manySize))
	})
}

func init() { roles["keep-files"] = keepFiles }

// keepFiles is the role of a process of many goroutines.
func keepFiles(args []string) error {
	goroutines, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	each, err := strconv.Atoi(args[4])
	if err != nil {
		return err
	}
	k, err := openKeeper(args[0], args[1], "", goroutines)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	if err := createTogether(k, args[2], goroutines, each); err != nil {
		return err
	}
	fmt.Println("made")
	return k.close()
}

// startCrew starts the processes. Each has a directory of its own.
func startCrew(t *turn) error {
	if err := t.mkdir(t.dir); err != nil {
		return err
	}
	goroutines := manyGoroutines / manyProcesses
	for i := range manyProcesses {
		dir := t.dir + "/" + strconv.Itoa(i)
		if err := t.mkdir(dir); err != nil {
			return err
		}
		c, err := startCreator(t.b, "keep-files", t.name, t.place, dir, strconv.Itoa(goroutines), strconv.Itoa(t.n/manyGoroutines))
		if err != nil {
			return err
		}
		t.crew = append(t.crew, c)
	}
	return nil
}

// runCrew lets the processes begin, and waits until all are done.
func runCrew(t *turn) (any, error) {
	for _, c := range t.crew {
		if err := c.begin(); err != nil {
			return nil, err
		}
	}
	for _, c := range t.crew {
		if err := c.expect("made"); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// listCrew ends the processes, and lists the files that they have made.
func listCrew(t *turn) (any, error) {
	var all sum
	for i, c := range t.crew {
		s, err := t.list(t.dir + "/" + strconv.Itoa(i))
		if err := errors.Join(err, c.end()); err != nil {
			return nil, err
		}
		all.entries += s.entries
		all.bytes += s.bytes
	}
	return all, t.wantMade(all)
}
