//go:build unix

package pgstore_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/internal/store/pgstore/s3server"
)

// A fault is what a proxy does to a request.
type fault int32

const (
	noFault     fault = iota
	unreachable       // the connection breaks before the request is passed on
	slow              // the answer comes too late
	lostReply         // the request is passed on, and the answer is not
	cutRequest        // the server gets half of the request
	cutReply          // the client gets half of the answer
	wrongBytes        // a byte of the answer is another one
	status500
	status503
	status507
	notFound    // a page of a proxy that knows nothing of the bucket
	unknownUser // versitygw does not know the access key
	page        // a page in place of an answer, as behind a login
	numFaults
)

// A faultyProxy stands between Stores and the server of S3.
type faultyProxy struct {
	host   string
	url    string
	always atomic.Int32 // the fault of all requests of the method, if it is not noFault
	method atomic.Value // string; "" for all
	chance atomic.Int32 // of a random fault, in percent
	burst  atomic.Int32 // how many requests more get a fault
	count  atomic.Int64 // faults
	next   chan fault   // those of the next requests, if not nil
}

func newFaultyProxy(t testing.TB) *faultyProxy {
	p := &faultyProxy{host: s3server.Shared(t).Host()}
	p.method.Store("")
	server := httptest.NewServer(p)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	p.url = server.URL
	return p
}

// set lets all requests of a method have a fault.
func (p *faultyProxy) set(method string, f fault) {
	p.method.Store(method)
	p.always.Store(int32(f))
}

// choose returns the fault of a request.
func (p *faultyProxy) choose(r *http.Request) fault {
	select {
	case f := <-p.next:
		return f
	default:
	}
	method := p.method.Load().(string)
	if f := fault(p.always.Load()); f != noFault && (method == "" || method == r.Method) {
		return f
	}
	chance := p.chance.Load()
	if chance == 0 {
		return noFault
	}
	if p.burst.Add(-1) < 0 {
		p.burst.Store(0)
		if rand.Int32N(100) >= chance {
			return noFault
		}
		if rand.IntN(4) == 0 {
			p.burst.Store(rand.Int32N(8))
		}
	}
	return 1 + fault(rand.IntN(int(numFaults)-1))
}

func (p *faultyProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := p.choose(r)
	if f != noFault {
		p.count.Add(1)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || f == unreachable {
		panic(http.ErrAbortHandler)
	}
	switch f {
	case slow:
		<-time.After(2 * faultTimeout / 3)
	case status500, status503, status507:
		w.WriteHeader(map[fault]int{status500: 500, status503: 503, status507: 507}[f])
		return
	case notFound:
		http.Error(w, "<html>not\nhere</html>", http.StatusNotFound)
		return
	case unknownUser:
		http.Error(w, "<Error><Code>XAdminUserNotFound</Code><Message>No such\nuser.</Message></Error>", http.StatusNotFound)
		return
	case page:
		_, _ = io.WriteString(w, "<html>\nlog in</html>")
		return
	case cutRequest:
		if len(body) > 0 {
			body = body[:len(body)/2]
		}
	}
	reply, content, err := p.pass(r, body, f == cutRequest)
	if err != nil || f == lostReply || f == cutRequest {
		panic(http.ErrAbortHandler)
	}
	for name, values := range reply.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(reply.StatusCode)
	switch {
	case f == cutReply:
		_, _ = w.Write(content[:len(content)/2])
		panic(http.ErrAbortHandler)
	case f == wrongBytes && len(content) > 0 && strings.Contains(r.URL.Path, "/objects/"):
		content[rand.IntN(len(content))] ^= 1
	}
	_, _ = w.Write(content)
}

// pass passes a request on. If it is cut, the server still expects all of it.
func (p *faultyProxy) pass(r *http.Request, body []byte, cut bool) (*http.Response, []byte, error) {
	out, err := http.NewRequest(r.Method, "http://"+p.host+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	out.Host, out.Header = r.Host, r.Header
	if cut {
		out.ContentLength = r.ContentLength
	}
	reply, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		return nil, nil, err
	}
	defer reply.Body.Close()
	content, err := io.ReadAll(reply.Body)
	return reply, content, err
}

// faultTimeout is that of requests to the bucket in these tests.
const faultTimeout = time.Second

// faultLimit is how long a call may take: a group whose objects fail is repeated change by change.
const faultLimit = 2*faultTimeout + 12*time.Second

var faults = flag.Int("faults", 0, "how many faults of the bucket TestFaults waits for, in place of 20 seconds")

// A faultyPair is a volume through a proxy, and the same without.
type faultyPair struct {
	*testing.T
	proxy  *faultyProxy
	v      *folio.Volume // through the proxy
	s      *pgstore.Store
	plain  *folio.Volume
	direct *pgstore.Store
	bucket string
}

func newFaultyPair(t *testing.T, address, through string, o pgstore.Options) *faultyPair {
	t.Helper()
	p := &faultyPair{T: t, proxy: newFaultyProxy(t), bucket: s3server.Bucket(t)}
	var err error
	p.direct, err = pgstore.Open(ctx, address, &pgstore.Options{Create: true, Bucket: s3server.Shared(t).Address(p.bucket), CacheSize: -1})
	must.Do(t, err)
	p.plain, err = folio.OpenStore(private.Key{}, p.direct, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = p.plain.Close() })
	o.Bucket, o.BucketTimeout = "s3://"+p.bucket+"?endpoint="+p.proxy.url, faultTimeout
	p.s, err = pgstore.Open(ctx, through, &o)
	must.Do(t, err)
	p.v, err = folio.OpenStore(private.Key{}, p.s, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = p.v.Close() })
	return p
}

// expect compares a file with contents that it may have.
func (p *faultyPair) expect(name string, contents ...[]byte) {
	p.Helper()
	got, err := p.plain.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		got, err = nil, nil
	}
	for _, c := range contents {
		if err == nil && bytes.Equal(got, c) && (got == nil) == (c == nil) {
			return
		}
	}
	p.Errorf("%s has %d bytes, %v", name, len(got), err)
}

// settle removes what no transaction has named. Then the bucket must have the objects that the
// volume names, and no others.
func (p *faultyPair) settle() {
	p.Helper()
	checkWell(p.T, p.plain)
	eventually(p.T, func() bool {
		_, err := p.direct.GC(ctx, &store.GCOptions{MinAge: time.Nanosecond})
		must.Do(p.T, err)
		sweep(p.T, p.direct)
		info := objectsOf(p.T, p.direct)
		return info.Objects == int64(len(objectFiles(p.T, p.bucket)))
	})
	checkWell(p.T, p.plain)
}

// TestFaults changes and reads a volume while random faults hit the requests to its bucket. A call
// that fails has changed nothing, one that returns has, no call returns wrong bytes, and all of
// them end in time. It goes on for some seconds, or until there were -faults faults.
func TestFaults(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	p := newFaultyPair(t, address, address, pgstore.Options{CacheDir: t.TempDir(), CacheSize: 2 << 20, SweepAfter: time.Second})
	p.proxy.chance.Store(25)
	files := make([][]byte, 6) // as they must be
	failed, calls := 0, 0
	begun := time.Now()
	more := func() bool {
		if *faults > 0 {
			return p.proxy.count.Load() < int64(*faults)
		}
		return time.Since(begun) < 20*time.Second
	}
	for more() && !t.Failed() {
		i, j := rand.IntN(len(files)), rand.IntN(len(files))
		name, calledAt := strconv.Itoa(i), time.Now()
		after := bytes.Clone(files[i])
		var err error
		kind := rand.IntN(9)
		switch kind {
		case 0, 1:
			after = randomBytes(200_000 + rand.IntN(900_000))
			err = p.v.WriteFile(name, after, 0o644)
		case 2:
			after = randomBytes(200_000 + rand.IntN(900_000))
			_, err = p.v.WriteFrom(name, bytes.NewReader(after), 0o644)
		case 3:
			if len(after) == 0 {
				continue
			}
			off := rand.IntN(len(after))
			part := randomBytes(1 + rand.IntN(400_000))
			after = append(after[:off:off], append(part, after[min(len(after), off+len(part)):]...)...)
			err = p.writeAt(name, part, int64(off))
		case 4:
			if len(after) == 0 {
				continue
			}
			after = after[:rand.IntN(len(after))]
			err = p.truncate(name, int64(len(after)))
		case 5:
			if after == nil {
				continue
			}
			after = nil
			err = p.v.Remove(name)
		case 6:
			if i == j {
				continue
			}
			after = randomBytes(300_000)
			err = p.v.Update(ctx, func(tx *folio.Tx) error {
				if err := tx.WriteFile(name, after, 0o644); err != nil {
					return err
				}
				return tx.WriteFile(strconv.Itoa(j), after, 0o644)
			})
			if err == nil {
				files[j] = after
			}
		case 7:
			if after == nil {
				continue
			}
			var got []byte
			if got, err = p.v.ReadFile(name); err == nil && !bytes.Equal(got, files[i]) {
				t.Errorf("wrong bytes of %s", name)
			}
		case 8:
			_, err = pgstore.Sweep(p.s, 0)
		}
		if d := time.Since(calledAt); d > faultLimit {
			t.Errorf("call %d of kind %d took %v", calls, kind, d)
		}
		if calls++; err != nil {
			failed++
			if strings.ContainsAny(err.Error(), "\n\t") {
				t.Errorf("not one line: %v", err)
			}
			if errors.Is(err, store.ErrDamaged) && !strings.Contains(err.Error(), "another checksum") {
				t.Errorf("kind %d: %v", kind, err)
			}
		} else {
			files[i] = after
		}
		p.expect(name, files[i])
		p.expect(strconv.Itoa(j), files[j])
		if calls%200 == 0 {
			checkWell(t, p.plain)
		}
	}
	p.proxy.chance.Store(0)
	t.Logf("%d faults, %d calls, %d of them failed", p.proxy.count.Load(), calls, failed)
	p.settle()
	for i, want := range files {
		p.expect(strconv.Itoa(i), want)
	}
}

func (p *faultyPair) writeAt(name string, part []byte, off int64) error {
	f, err := p.v.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(part, off)
	return err
}

func (p *faultyPair) truncate(name string, size int64) error {
	f, err := p.v.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}

// TestFaultTable makes each kind of call while each kind of fault is there. If the call fails, the
// file must be as it was; if it returns, as it should be.
func TestFaultTable(t *testing.T) {
	t.Parallel()
	old, new := randomBytes(700_000), randomBytes(900_000)
	mixed := append(append(bytes.Clone(old[:300_000]), new[:10]...), old[300_010:]...)
	calls := map[string]struct {
		file  string // that it changes
		after []byte
		call  func(p *faultyPair) error
	}{
		"create":    {"new", new, func(p *faultyPair) error { return p.v.WriteFile("new", new, 0o644) }},
		"overwrite": {"file", new, func(p *faultyPair) error { return p.v.WriteFile("file", new, 0o644) }},
		"stream":    {"file", new, func(p *faultyPair) error { _, err := p.v.WriteFrom("file", bytes.NewReader(new), 0o644); return err }},
		"write at":  {"file", mixed, func(p *faultyPair) error { return p.writeAt("file", new[:10], 300_000) }},
		"truncate":  {"file", old[:300_000], func(p *faultyPair) error { return p.truncate("file", 300_000) }},
		"copy":      {"copy", old, func(p *faultyPair) error { return p.v.CopyFile("file", "copy") }},
		"remove":    {"file", nil, func(p *faultyPair) error { return p.v.Remove("file") }},
		"read": {"file", old, func(p *faultyPair) error {
			got, err := p.v.ReadFile("file")
			if err == nil && !bytes.Equal(got, old) {
				p.Error("wrong bytes")
			}
			return err
		}},
		"open": {"file", nil, func(p *faultyPair) error {
			f, err := p.v.Open("file")
			must.Do(p.T, err)
			defer f.Close()
			must.Do(p.T, p.plain.Remove("file"))
			_, err = pgstore.Sweep(p.direct, 0)
			must.Do(p.T, err)
			got := make([]byte, len(old))
			if _, err = f.ReadAt(got, 0); err == nil && !bytes.Equal(got, old) {
				p.Error("wrong bytes")
			}
			return nil
		}},
		"update": {"file", new, func(p *faultyPair) error {
			return p.v.Update(ctx, func(tx *folio.Tx) error {
				return errors.Join(tx.WriteFile("file", new, 0o644), tx.WriteFile("other", new, 0o644), tx.WriteFile("third", old, 0o644))
			})
		}},
		"rollback": {"file", old, func(p *faultyPair) error {
			return p.v.Update(ctx, func(tx *folio.Tx) error {
				if err := tx.WriteFile("other", make([]byte, 9<<20), 0o644); err != nil {
					return err
				}
				return errors.New("rolled back")
			})
		}},
		"sweep": {"gone", nil, func(p *faultyPair) error { _, err := pgstore.Sweep(p.s, 0); return err }},
		"gc":    {"gone", nil, func(p *faultyPair) error { _, err := p.s.GC(ctx, nil); return err }},
		"check": {"file", old, func(p *faultyPair) error {
			report, err := p.v.Check(ctx, nil)
			if err == nil && !report.OK() {
				err = store.Damaged("%v", report.Problems)
			}
			return err
		}},
	}
	type kind struct {
		method string
		fault  fault
		damage string // other faults
	}
	kinds := map[string]kind{
		"no fault": {}, "put fails": {http.MethodPut, status500, ""}, "put unreachable": {http.MethodPut, unreachable, ""},
		"reply of put lost": {http.MethodPut, lostReply, ""}, "bucket full": {http.MethodPut, status507, ""},
		"get fails": {http.MethodGet, status503, ""}, "get slow": {http.MethodGet, slow, ""}, "get gives wrong bytes": {http.MethodGet, wrongBytes, ""},
		"get is cut": {http.MethodGet, cutReply, ""}, "delete fails": {http.MethodDelete, status500, ""}, "reply of delete lost": {http.MethodDelete, lostReply, ""},
		"put is believed": {http.MethodPut, page, ""}, "get not found": {http.MethodGet, notFound, ""},
		"get gives a page": {http.MethodGet, page, ""},
		"object missing":   {"", noFault, "missing"}, "disk of the cache full": {"", noFault, "cache"},
	}
	for k := range 4 {
		kinds[fmt.Sprint("database cut ", k)] = kind{"", noFault, fmt.Sprint("cut ", k+1)}
	}
	if testing.Short() {
		for name := range kinds {
			if name != "put fails" && name != "get gives wrong bytes" {
				delete(kinds, name)
			}
		}
	}
	for kindName, k := range kinds {
		for callName, c := range calls {
			t.Run(kindName+"/"+callName, func(t *testing.T) {
				t.Parallel()
				address := pgserver.Volume(t)
				server := pgserver.Shared(t).Socket()
				cutter := newCutter(t, server)
				p := newFaultyPair(t, address, strings.Replace(address, server, cutter.dir, 1), pgstore.Options{CacheDir: t.TempDir(), MaxConns: 4})
				must.Do(t, p.plain.WriteFile("file", old, 0o644))
				must.Do(t, p.plain.WriteFile("gone", old, 0o644))
				must.Do(t, p.plain.Remove("gone"))
				was, err := p.plain.ReadFile(c.file)
				if err != nil {
					was = nil
				}
				p.proxy.set(k.method, k.fault)
				switch {
				case k.damage == "cache":
					pgstore.BreakCache(p.s)
				case k.damage == "missing":
					for _, path := range objectFiles(t, p.bucket) {
						must.Do(t, os.Rename(path, path+"-away"))
					}
				case k.damage != "":
					after, _ := strconv.Atoi(strings.TrimPrefix(k.damage, "cut "))
					cutter.where = []string{before, instead, amid}[after%3]
					cutter.after.Store(int64(after))
				}
				begun := time.Now()
				err = c.call(p)
				if d := time.Since(begun); d > faultLimit {
					t.Errorf("it took %v", d)
				}
				cutter.after.Store(0)
				p.proxy.set("", noFault)
				if k.damage == "missing" {
					p.restore()
				}
				if err != nil && strings.ContainsAny(strings.ReplaceAll(err.Error(), "rolled back", ""), "\n\t") && callName != "update" {
					t.Errorf("not one line: %v", err)
				}
				switch {
				case err == nil:
					p.expect(c.file, c.after)
				case strings.Contains(err.Error(), "during the commit"):
					p.expect(c.file, was, c.after)
				default:
					p.expect(c.file, was)
				}
				if errors.Is(err, store.ErrDamaged) && k.damage == "" && k.fault != wrongBytes {
					t.Errorf("the volume is not damaged: %v", err)
				}
				if err != nil && kindName == "no fault" && callName != "rollback" {
					t.Error(err)
				}
				if k.damage != "missing" {
					p.settle()
				}
			})
		}
	}
}

// TestSweepFails removes a large file while the bucket removes nothing. Its object must not count
// as removed, and goes later.
func TestSweepFails(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fault{"error": status500, "not found": notFound, "unknown user": unknownUser, "page": page} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := pgserver.Volume(t)
			p := newFaultyPair(t, address, address, pgstore.Options{})
			must.Do(t, p.v.WriteFile("file", randomBytes(1<<20), 0o644))
			must.Do(t, p.plain.Remove("file"))
			for _, s := range []*pgstore.Store{p.s, p.direct} {
				must.Do(t, pgstore.Beat(s)) // none of them has the file open
			}
			p.proxy.set(http.MethodDelete, f)
			eventually(t, func() bool {
				n, err := pgstore.Sweep(p.s, 0)
				if n > 0 || err != nil && strings.ContainsAny(err.Error(), "\n\t") {
					t.Fatalf("%d objects removed, %v", n, err)
				}
				return err != nil
			})
			p.proxy.set("", noFault)
			eventually(t, func() bool { return sweep(t, p.s) == 1 })
			if left := objectFiles(t, p.bucket); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// restore gives the bucket the objects back that were away.
func (p *faultyPair) restore() {
	p.Helper()
	for _, path := range awayFiles(p.T, p.bucket) {
		must.Do(p.T, os.Rename(path, strings.TrimSuffix(path, "-away")))
	}
}
