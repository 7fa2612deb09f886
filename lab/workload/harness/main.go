// Package harness is the common part of the contenders' programs: the protocol, the clock, and the
// workloads' interfaces on top of SQL. So a driver only opens a connection and runs a statement.
package harness

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"github.com/foliofs/folio/lab/workload"
)

// A Contender is a program.
type Contender struct {
	Name   string
	Module string // of the library that is driven
	APIs   []workload.API
}

// Main is the whole of a contender's main.
func Main(c Contender) {
	if len(os.Args) > 1 {
		if err := c.process(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	replies := json.NewEncoder(os.Stdout)
	if err := c.serve(bufio.NewReader(os.Stdin), replies); err != nil {
		var w *workload.WrongError
		_ = replies.Encode(workload.Reply{Error: &workload.Error{Wrong: errors.As(err, &w), Message: err.Error()}})
		os.Exit(1)
	}
}

// process does the workload of whole processes: PROGRAM rowids API DATABASE.
func (c Contender) process(args []string) error {
	if len(args) != 3 || args[0] != "rowids" {
		return errors.New("usage: PROGRAM [rowids API DATABASE] with requests, or rowids, on standard input")
	}
	a, err := c.api(args[1])
	if err != nil {
		return err
	}
	if a.Queries == nil {
		return errors.ErrUnsupported
	}
	return rowids(a, args[2], os.Stdin, os.Stdout)
}

func (c Contender) api(name string) (*workload.API, error) {
	i := slices.IndexFunc(c.APIs, func(a workload.API) bool { return a.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s has no API %q", c.Name, name)
	}
	return &c.APIs[i], nil
}

// serve answers the one request that it gets.
func (c Contender) serve(in *bufio.Reader, replies *json.Encoder) error {
	r, err := next(in)
	switch {
	case err != nil:
		return err
	case r.Describe != nil:
		return replies.Encode(workload.Reply{About: c.about()})
	case r.Make != nil:
		return c.makeFolder(r.Make, replies)
	case r.Probe != nil:
		return c.probe(r.Probe, replies)
	case r.Job != nil:
		return c.do(r.Job, in, replies)
	}
	return errors.New("a request that is not known")
}

func next(in *bufio.Reader) (r workload.Request, err error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("reading a request: %w", err)
	}
	return r, json.Unmarshal(line, &r)
}

// do does a job, from the opening of the store to its closing.
func (c Contender) do(j *workload.Job, in *bufio.Reader, replies *json.Encoder) (err error) {
	a, err := c.api(j.API)
	if err != nil {
		return err
	}
	w, err := workload.Find(j.Workload)
	if err != nil {
		return err
	}
	if !w.Supports(a) {
		return fmt.Errorf("%s: %w", w.Name, errors.ErrUnsupported)
	}
	work, err := w.Start(j, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	warm, err := warmUp(work)
	if err != nil {
		return fmt.Errorf("warming up: %w", err)
	}
	if err := replies.Encode(workload.Reply{Ready: &workload.Ready{Group: j.Group, Settings: work.Settings, WarmUp: warm}}); err != nil {
		return err
	}
	if r, err := next(in); err != nil || r.Go == nil {
		return errors.Join(err, errors.New("was not told to go"))
	}
	done, err := measure(j, work)
	if err != nil {
		return err
	}
	if err := replies.Encode(workload.Reply{Done: done}); err != nil {
		return err
	}
	_, err = in.ReadByte()
	if err == io.EOF {
		err = nil
	}
	return err
}

// about describes the program and all its APIs.
func (c Contender) about() *workload.About {
	out := &workload.About{Name: c.Name, Module: c.Module, Modules: make(map[string]string), Build: make(map[string]string)}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			out.Modules[m.Path] = m.Version
		}
		for _, s := range info.Settings {
			out.Build[s.Key] = s.Value
		}
	}
	for i := range c.APIs {
		out.APIs = append(out.APIs, aboutAPI(&c.APIs[i]))
	}
	return out
}

func aboutAPI(a *workload.API) workload.AboutAPI {
	out := workload.AboutAPI{Name: a.Name, Title: a.Title, Kind: a.Kind, Ours: a.Ours, Probes: a.Probe != nil, Makes: a.MakeFolder != nil, Groups: append([]workload.Group{workload.ReadOnly}, a.Groups...), Notes: a.Notes}
	for _, w := range append(workload.All(), workload.Query) {
		if w.Supports(a) {
			out.Workloads = append(out.Workloads, w.Name)
		}
	}
	if a.SQLite != nil {
		var err error
		if out.SQLite, out.CompileOptions, err = a.SQLite(); err != nil {
			out.Error = err.Error()
		}
	}
	return out
}

// probe answers for the user's statement.
func (c Contender) probe(p *workload.Probe, replies *json.Encoder) error {
	i := slices.IndexFunc(c.APIs, func(a workload.API) bool { return a.Probe != nil })
	if i < 0 {
		return errors.ErrUnsupported
	}
	s, err := c.APIs[i].Probe(p)
	if err != nil {
		return err
	}
	return replies.Encode(workload.Reply{Statement: s})
}

// makeFolder makes the database of the lookups by the first API that can.
func (c Contender) makeFolder(m *workload.Make, replies *json.Encoder) error {
	i := slices.IndexFunc(c.APIs, func(a workload.API) bool { return a.MakeFolder != nil })
	if i < 0 {
		return errors.ErrUnsupported
	}
	progress := func(rows int) { _ = replies.Encode(workload.Reply{Rows: &rows}) }
	if err := c.APIs[i].MakeFolder(&m.Folder, m.Path, progress); err != nil {
		return err
	}
	return replies.Encode(workload.Reply{Done: &workload.Done{Ops: int64(m.Folder.Rows)}})
}
