//go:build unix

package pgstore_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/store/pgstore"
	"github.com/foliofs/folio/store/pgstore/pgserver"
)

var (
	measured = flag.Bool("measure", false, "measure the store next to plain SQL, on a server that syncs")
	against  = flag.String("measure.server", "", "address of a database to measure, in place of a server of the test's own")
)

// writersEnv tells a process of this binary to write files: its value is an address and a
// directory.
const writersEnv = "FOLIO_TEST_WRITERS"

// TestMeasure prints the figures of docs/machines.md. Each stands next to those of plain SQL over
// the same connection, in the same run:
//
//	go test -run TestMeasure -measure -v .
func TestMeasure(t *testing.T) {
	if where := os.Getenv(writersEnv); where != "" {
		address, dir, _ := strings.Cut(where, " ")
		writeFiles(t, address, dir)
		return
	}
	if !*measured {
		t.Skip("-measure measures")
	}
	address := *against
	if address == "" {
		server, err := pgserver.New("max_connections=200", "shared_buffers=256MB")
		must(t, err)
		t.Cleanup(server.Close)
		address = server.Address("measure")
	}
	pool, err := pgxpool.New(context.Background(), pgstore.PlainAddress(address))
	must(t, err)
	t.Cleanup(pool.Close)
	v := volumeOf(t, address, &folio.Options{CacheSize: -1})
	m := &measurement{T: t, pool: pool, v: v, address: address}
	m.trips()
	m.crowds()
	m.lists()
}

// volumeOf opens a volume with options of package folio.
func volumeOf(t testing.TB, address string, o *folio.Options) *folio.Volume {
	t.Helper()
	s, err := pgstore.Open(context.Background(), address, &pgstore.Options{Create: true})
	must(t, err)
	v, err := folio.OpenStore(s, o)
	must(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

type measurement struct {
	*testing.T
	pool    *pgxpool.Pool
	v       *folio.Volume
	address string
}

// median calls functions in turn, and returns the median time of each.
func (m *measurement) median(rounds int, fns ...func(i int) error) []time.Duration {
	m.Helper()
	times := make([][]time.Duration, len(fns))
	for i := range rounds {
		for j, fn := range fns {
			begun := time.Now()
			must(m.T, fn(i))
			times[j] = append(times[j], time.Since(begun))
		}
	}
	medians := make([]time.Duration, len(fns))
	for j := range times {
		slices.Sort(times[j])
		medians[j] = times[j][len(times[j])/2]
	}
	return medians
}

func (m *measurement) trips() {
	ctx := context.Background()
	c, err := m.pool.Acquire(ctx)
	must(m.T, err)
	defer c.Release()
	_, err = c.Exec(ctx, "CREATE TABLE IF NOT EXISTS plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, bytes bytea)")
	must(m.T, err)
	must(m.T, m.v.MkdirAll("one/two/three/four", 0o755))
	must(m.T, m.v.WriteFile("one/two/three/four/five", make([]byte, 4096), 0o644))
	select1 := func(int) error { var n int; return c.QueryRow(ctx, "SELECT 1").Scan(&n) }
	stat := func(int) error { _, err := m.v.Stat("one/two/three/four/five"); return err }
	read := func(int) error { _, err := m.v.ReadFile("one/two/three/four/five"); return err }
	d := m.median(3000, select1, stat, read)
	m.Logf("select 1                               %v", d[0])
	m.Logf("stat of a path of five names           %v, %.2f times select 1", d[1], ratio(d[1], d[0]))
	m.Logf("read a file of 4 KiB there             %v, %.2f times", d[2], ratio(d[2], d[0]))
	content := make([]byte, 4096)
	insert := func(int) error { _, err := c.Exec(ctx, "INSERT INTO plain (bytes) VALUES ($1)", content); return err }
	create := func(i int) error { return m.v.WriteFile("one/two/three/"+strconv.Itoa(i), content, 0o644) }
	rewrite := func(i int) error { return m.v.WriteFile("one/two/three/"+strconv.Itoa(i), content, 0o644) }
	remove := func(i int) error { return m.v.Remove("one/two/three/" + strconv.Itoa(i)) }
	d = m.median(2000, insert, create, rewrite, remove)
	m.Logf("insert a row of 4 KiB durably          %v", d[0])
	m.Logf("create a file of 4 KiB durably         %v, %.2f times the insert", d[1], ratio(d[1], d[0]))
	m.Logf("replace it; remove it                  %v; %v", d[2], d[3])
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

const (
	crowd     = 100
	crowdEach = 200
)

// crowds lets many clients write at once.
func (m *measurement) crowds() {
	ctx := context.Background()
	must(m.T, m.v.Mkdir("crowd", 0o755))
	for round := range 3 {
		var clients []*pgx.Conn
		for range 50 {
			c, err := pgx.Connect(ctx, pgstore.PlainAddress(m.address))
			must(m.T, err)
			clients = append(clients, c)
		}
		plain := m.rate(50, 2*crowdEach, func(i, _ int) error {
			_, err := clients[i].Exec(ctx, "INSERT INTO plain (bytes) VALUES ($1)", make([]byte, 100))
			return err
		})
		for _, c := range clients {
			_ = c.Close(ctx)
		}
		one := m.rate(crowd, crowdEach, func(i, j int) error {
			return m.v.WriteFile(fmt.Sprintf("crowd/%d-%d-%d", round, i, j), make([]byte, 100), 0o644)
		})
		four := m.processes(4, round)
		m.Logf("durable inserts by 50 clients          %.0f/s", plain)
		m.Logf("files of 100 bytes by 100 goroutines   %.0f/s, %.2f times; by 4 processes of 25 %.0f/s, %.2f times", one, one/plain, four, four/plain)
	}
}

// rate returns how many calls a second some goroutines make.
func (m *measurement) rate(goroutines, each int, fn func(i, j int) error) float64 {
	var wg sync.WaitGroup
	begun := time.Now()
	for i := range goroutines {
		wg.Go(func() {
			for j := range each {
				if err := fn(i, j); err != nil {
					m.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(goroutines*each) / time.Since(begun).Seconds()
}

// processes lets processes of this binary make files, and returns how many a second they made
// together. They begin when all are ready.
func (m *measurement) processes(n, round int) float64 {
	type process struct {
		cmd *exec.Cmd
		in  interface{ Close() error }
		out *bufio.Scanner
	}
	var list []process
	for i := range n {
		dir := fmt.Sprintf("crowd/p%d-%d", round, i)
		must(m.T, m.v.Mkdir(dir, 0o755))
		cmd := exec.Command(os.Args[0], "-test.run=TestMeasure")
		cmd.Env, cmd.Stderr = append(os.Environ(), writersEnv+"="+m.address+" "+dir), os.Stderr
		in, err := cmd.StdinPipe()
		must(m.T, err)
		out, err := cmd.StdoutPipe()
		must(m.T, err)
		must(m.T, cmd.Start())
		list = append(list, process{cmd, in, bufio.NewScanner(out)})
	}
	for _, p := range list {
		p.out.Scan() // ready
	}
	begun := time.Now()
	for _, p := range list {
		must(m.T, p.in.Close())
	}
	for _, p := range list {
		p.out.Scan() // done
	}
	d := time.Since(begun)
	for _, p := range list {
		for p.out.Scan() {
		}
		must(m.T, p.cmd.Wait())
	}
	return float64(n*25*crowdEach) / d.Seconds()
}

// writeFiles is the work of one of the processes.
func writeFiles(t *testing.T, address, dir string) {
	v := volumeOf(t, address, nil)
	m := &measurement{T: t}
	must(t, v.WriteFile(dir+"/ready", nil, 0o644))
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	m.rate(25, crowdEach, func(i, j int) error { return v.WriteFile(fmt.Sprintf("%s/%d-%d", dir, i, j), make([]byte, 100), 0o644) })
	fmt.Println("done")
}

// lists reads a directory of 1,000 entries with their attributes.
func (m *measurement) lists() {
	must(m.T, m.v.Mkdir("list", 0o755))
	must(m.T, m.v.Update(context.Background(), func(tx *folio.Tx) error {
		var err error
		for i := range 1000 {
			err = errors.Join(err, tx.WriteFile(fmt.Sprint("list/file-", i), nil, 0o644))
		}
		return err
	}))
	d := m.median(200, func(int) error {
		return m.v.View(context.Background(), func(rx *folio.Rx) error {
			list, err := fs.ReadDir(rx.FS(), "list")
			for _, e := range list {
				if _, infoErr := e.Info(); infoErr != nil {
					return infoErr
				}
			}
			return err
		})
	})
	m.Logf("list 1,000 entries with attributes     %v", d[0])
}
