package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// processSample takes a sample of a whole process, from its start to its end. Files are its
// standard input and output, so that no other process works at the same time.
func (r *run) processSample(ctx context.Context, t turn, j *workload.Job) (_ *result.Sample, stderr string, err error) {
	e := t.participant
	in, err := inputFile(j, e.about.Input)
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	out, err := os.Create(filepath.Join(j.Dir, "out"))
	if err != nil {
		return nil, "", err
	}
	defer out.Close()
	args := append(slices.Clip(e.program.args), j.Workload, e.about.Name, j.DB)
	cmd := exec.CommandContext(ctx, e.program.path, args...)
	alone(cmd)
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &complaint
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	hung := watch(r.o.Timeout, func() { _ = killAll(cmd) })
	err = cmd.Wait()
	took := time.Since(begin)
	switch {
	case hung():
		return nil, complaint.String(), &failure{result.FailureHang, fmt.Errorf("it was not done within %v", r.o.Timeout)}
	case err != nil:
		return nil, complaint.String(), &failure{result.FailureCrash, fmt.Errorf("%w: %s", err, OneLine(complaint.Bytes()))}
	}
	if _, err := out.Seek(0, 0); err != nil {
		return nil, "", err
	}
	d := &workload.Done{Ops: t.task.workload.Ops(j), Seconds: took.Seconds(), Use: processUse(cmd.ProcessState)}
	if d.Answer, err = workload.ReadOutput(out); err != nil {
		return nil, complaint.String(), &failure{result.FailureWrong, err}
	}
	if err := checkDone(t.task.workload, j, e.about.Kind, d); err != nil {
		return nil, complaint.String(), err
	}
	return sampleRecord(t.task, e, &workload.Ready{Settings: []map[string]string{nil}}, d), "", nil
}

// inputFile writes the input of the process, and opens it.
func inputFile(j *workload.Job, input string) (*os.File, error) {
	f, err := os.Create(filepath.Join(j.Dir, "in"))
	if err != nil {
		return nil, err
	}
	err = workload.WriteInput(j, f, input)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// processUse returns the resources that a process has used, with its children.
func processUse(s *os.ProcessState) workload.Use {
	user, system := s.UserTime().Seconds(), s.SystemTime().Seconds()
	return workload.Use{UserSeconds: &user, SystemSeconds: &system, PeakMemory: peakMemory(s)}
}
