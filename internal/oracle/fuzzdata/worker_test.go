package fuzzdata

import (
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// workerEnv makes the test's program a worker.
const workerEnv = "FOLIO_FUZZDATA_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		work()
		return
	}
	os.Exit(m.Run())
}

// work answers every image on standard input with a verdict on standard output.
func work() {
	in, out := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
	for {
		var image []byte
		if err := in.Decode(&image); err != nil {
			return
		}
		if err := out.Encode(judgeImage(image)); err != nil {
			return
		}
	}
}

// A worker is a child process that asks C SQLite about one image after another. It is started again
// when it dies.
type worker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	enc *gob.Encoder
	dec *gob.Decoder
}

// workerPatience is how long a worker may take for one image before it is killed.
const workerPatience = 20 * time.Second

func (w *worker) start() error {
	w.cmd = exec.Command(os.Args[0])
	w.cmd.Env = append(os.Environ(), workerEnv+"=1", "GOMAXPROCS=1")
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	w.in, w.enc, w.dec = in, gob.NewEncoder(in), gob.NewDecoder(out)
	return w.cmd.Start()
}

// ask starts to ask about an image and returns how to wait for the answer.
func (w *worker) ask(image []byte) (wait func() *verdict) {
	answer := make(chan *verdict, 1)
	go func() { answer <- w.exchange(image) }()
	return func() *verdict { return <-answer }
}

func (w *worker) exchange(image []byte) *verdict {
	if w.cmd == nil {
		if err := w.start(); err != nil {
			return &verdict{Died: err.Error()}
		}
	}
	killed := false
	timer := time.AfterFunc(workerPatience, func() { killed = true; w.cmd.Process.Kill() })
	defer timer.Stop()
	v := new(verdict)
	err := w.enc.Encode(image)
	if err == nil {
		err = w.dec.Decode(v)
	}
	if err != nil {
		end := w.cmd.Wait()
		w.cmd = nil
		v = &verdict{Died: fmt.Sprintf("%v, killed %v", end, killed)}
	}
	return v
}

func (w *worker) stop() {
	if w.cmd != nil {
		w.in.Close()
		w.cmd.Wait()
	}
}
