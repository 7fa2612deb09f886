package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio"
)

// BenchmarkHTTP asks for all files of the Go sources in a random order, over 8 connections that
// stay open. The servers are processes of their own: package net/http over a volume and over a
// directory, and nginx over that directory.
func BenchmarkHTTP(b *testing.B) {
	t := goroot(b, "src")
	names := servedNames(b, t)
	for _, c := range []struct {
		name  string
		start func(b *testing.B) string
	}{
		{"files", func(b *testing.B) string { return startServer(b, "serve-files", t.dir) }},
		{"folio", func(b *testing.B) string { return startServer(b, "serve-folio", t.volume) }},
		{"nginx", func(b *testing.B) string { return startNginx(b, t.dir) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			address := c.start(b)
			want := wantServed(b, t.dir, names)
			for b.Loop() {
				if got, err := fetchAll(address, names); err != nil || got != want {
					b.Fatalf("%+v, want %+v, %v", got, want, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(names)), "ns/request")
		})
	}
}

// servedNames are the names of all files, at random. A file server redirects from index.html.
func servedNames(b *testing.B, t tree) (names []string) {
	for _, name := range regular(b, os.DirFS(t.dir)) {
		if !strings.HasSuffix(name, "index.html") && !strings.ContainsAny(name, " %?#+") {
			names = append(names, name)
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

func wantServed(b *testing.B, dir string, names []string) (total served) {
	for _, name := range names {
		p, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		must(b, err)
		total.add(p)
	}
	return total
}

// served says what came, in whatever order.
type served struct{ files, bytes, sample int64 }

func (s *served) add(p []byte) {
	var one sum
	one.add(p)
	s.files, s.bytes, s.sample = s.files+1, s.bytes+one.bytes, s.sample+one.sample
}

// connections is how many clients ask at a time.
const connections = 8

func fetchAll(address string, names []string) (total served, err error) {
	var mu sync.Mutex // guards total and err
	var wg sync.WaitGroup
	for i := range connections {
		wg.Go(func() {
			got, failed := fetch(address, names[len(names)*i/connections:len(names)*(i+1)/connections])
			mu.Lock()
			defer mu.Unlock()
			total.files, total.bytes, total.sample = total.files+got.files, total.bytes+got.bytes, total.sample+got.sample
			err = errors.Join(err, failed)
		})
	}
	wg.Wait()
	return total, err
}

// fetch asks for files over one connection. It knows only as much of HTTP as the answers need, so
// that most of the time is the servers'.
func fetch(address string, names []string) (got served, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return got, err
	}
	defer conn.Close()
	r, p := bufio.NewReaderSize(conn, 64<<10), make([]byte, 0, 1<<20)
	for _, name := range names {
		if _, err := fmt.Fprintf(conn, "GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n", name); err != nil {
			return got, err
		}
		size, err := responseSize(r)
		if err != nil {
			return got, fmt.Errorf("%s: %w", name, err)
		}
		p = append(p[:0], make([]byte, size)...)
		if _, err := io.ReadFull(r, p); err != nil {
			return got, err
		}
		got.add(p)
	}
	return got, nil
}

// responseSize reads the head of a response, and returns the size of its body.
func responseSize(r *bufio.Reader) (size int, err error) {
	size = -1
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			return 0, fmt.Errorf("%q", line)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			if size < 0 {
				return 0, errors.New("no size")
			}
			return size, nil
		}
		if name, value, ok := bytes.Cut(line, []byte(": ")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if size, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		}
	}
}

func serveFiles(args []string) error { return serve(http.FileServer(http.Dir(args[0]))) }

func serveVolume(args []string) error {
	v, err := folio.Open(args[0], nil)
	if err != nil {
		return err
	}
	return errors.Join(serve(http.FileServerFS(v.FS())), v.Close())
}

// serve tells its address on standard output, and serves until standard input ends.
func serve(h http.Handler) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	server := &http.Server{Handler: h}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	_, err = io.Copy(io.Discard, os.Stdin)
	err = errors.Join(err, server.Close())
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func startServer(b *testing.B, role, path string) (address string) {
	b.Helper()
	cmd := process(b, role, path)
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	b.Cleanup(func() { must(b, errors.Join(in.Close(), cmd.Wait())) })
	line, err := bufio.NewReader(out).ReadString('\n')
	must(b, err)
	return strings.TrimSpace(line)
}

const nginxConf = `daemon off; pid %[1]s/pid; error_log %[1]s/error; user root; worker_processes auto;
events { worker_connections 1024; }
http {
	access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; default_type text/plain;
	client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
	server { listen %[2]s; root %[3]s; }
}
`

// startNginx starts an nginx on a free port. It skips the benchmark if nginx is not installed.
func startNginx(b *testing.B, dir string) (address string) {
	b.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		b.Skipf("nginx is not installed: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	address = l.Addr().String()
	must(b, l.Close())
	home := b.TempDir()
	conf := filepath.Join(home, "nginx.conf")
	must(b, os.WriteFile(conf, fmt.Appendf(nil, nginxConf, home, address, dir), 0o666))
	cmd := exec.Command(program, "-p", home, "-c", conf)
	cmd.Stderr = os.Stderr
	must(b, cmd.Start())
	b.Cleanup(func() { must(b, errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait())) })
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); ; <-tick.C {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			must(b, conn.Close())
			return address
		}
		if time.Now().After(end) {
			b.Fatal(err)
		}
	}
}
