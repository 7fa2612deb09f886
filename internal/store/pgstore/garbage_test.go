//go:build unix

package pgstore_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// objectFiles returns the files in which the server keeps the objects of a bucket.
func objectFiles(t testing.TB, bucket string) []string { return filesOf(t, bucket, 32) }

// awayFiles returns those of objects that a test has renamed.
func awayFiles(t testing.TB, bucket string) []string { return filesOf(t, bucket, 32+len("-away")) }

// filesOf returns the files of a bucket whose names have so many letters.
func filesOf(t testing.TB, bucket string, length int) (list []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(s3server.Shared(t).Dir(bucket), "objects"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && len(d.Name()) == length {
			list = append(list, path)
		}
		return nil
	})
	if !errors.Is(err, fs.ErrNotExist) {
		must.Do(t, err)
	}
	return list
}

func sweep(t testing.TB, s *pgstore.Store) int {
	t.Helper()
	n, err := pgstore.Sweep(s, 0)
	must.Do(t, err)
	return n
}

// TestSweep removes large files. Their objects stay while a View, or an open file, needs them.
func TestSweep(t *testing.T) {
	t.Parallel()
	v, s, bucket := volumeWithBucket(t, pgstore.Options{CacheSize: -1})
	want := randomBytes(9 << 20)
	must.Do(t, v.WriteFile("file", want, 0o644))
	must.Do(t, v.WriteFile("open", want, 0o644))
	must.Do(t, v.WriteFile("stays", want, 0o644))
	f, err := v.Open("open")
	must.Do(t, err)
	must.Do(t, v.View(ctx, func(rx *folio.Rx) error {
		_, err := rx.Stat("file") // the snapshot begins
		must.Do(t, err)
		must.Do(t, v.Remove("file"))
		must.Do(t, v.Remove("open"))
		must.Do(t, pgstore.Beat(s))
		if n := sweep(t, s); n != 0 {
			t.Errorf("%d objects were removed while a View needs them", n)
		}
		if got, err := rx.ReadFile("file"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("in the View: %d bytes, %v", len(got), err)
		}
		return nil
	}))
	eventually(t, func() bool { return sweep(t, s) == 3 })
	got := make([]byte, len(want))
	if n, err := f.ReadAt(got, 0); n != len(want) || err != nil || !bytes.Equal(got, want) {
		t.Errorf("the open file: %d bytes, %v", n, err)
	}
	must.Do(t, f.Close())
	eventually(t, func() bool { return sweep(t, s) == 3 })
	if list := objectFiles(t, bucket); len(list) != 3 {
		t.Errorf("%d objects are left", len(list))
	}
	if got, err := v.ReadFile("stays"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file that stays: %d bytes, %v", len(got), err)
	}
	must.Do(t, v.WriteFile("stays", []byte("small"), 0o644))
	eventually(t, func() bool { return sweep(t, s) == 3 })
	if info := objectsOf(t, s); info.Objects != 0 || info.Waiting != 0 {
		t.Errorf("%+v", info)
	}
	checkWell(t, v)
}

// eventually waits until a condition of the server holds, of which it sends no event. For example,
// its snapshots end a moment after the calls that had them.
func eventually(t testing.TB, condition func() bool) {
	t.Helper()
	if !within(time.Minute, condition) {
		t.Error("it never came to that")
	}
}

// within reports whether a condition holds before some time is over. It is the only place where
// tests of this package look again and again.
func within(limit time.Duration, condition func() bool) bool {
	for begun := time.Now(); !condition(); <-time.After(10 * time.Millisecond) {
		if time.Since(begun) > limit {
			return false
		}
	}
	return true
}

// TestGC removes objects that no transaction has named. A transaction that names one after that
// fails.
func TestGC(t *testing.T) {
	t.Parallel()
	v, s, bucket := volumeWithBucket(t, pgstore.Options{})
	want := randomBytes(5 << 20)
	must.Do(t, v.WriteFile("file", want, 0o644))
	files := objectFiles(t, bucket)
	stray := filepath.Join(filepath.Dir(files[0]), filepath.Base(files[0])[:2]+strings.Repeat("0", 30))
	must.Do(t, os.WriteFile(stray, want, 0o644))
	report, err := s.GC(ctx, nil)
	if err != nil || report.Unnamed != 0 || report.Listed != int64(len(files)+1) {
		t.Errorf("young objects: %+v, %v", report, err)
	}
	old := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(stray, old, old))
	report, err = s.GC(ctx, &store.GCOptions{MinAge: time.Minute})
	if err != nil || report.Unnamed != 1 || report.Removed != 1 || report.Objects != int64(len(files)) {
		t.Errorf("%+v, %v", report, err)
	}
	err = v.Update(ctx, func(tx *folio.Tx) error {
		must.Do(t, tx.WriteFile("late", append(want, want...), 0o644)) // so large that it is on its way now
		eventually(t, func() bool {
			n, err := pgstore.Claim(s)
			must.Do(t, err)
			return n > 0
		})
		return nil
	})
	if !errors.Is(err, folio.ErrBusy) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a transaction whose object was swept: %v", err)
	}
	if _, err := v.Stat("late"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	checkWell(t, v)
}

// TestGCConflict lets the server choose statements of GC as victims of a deadlock. GC repeats them.
func TestGCConflict(t *testing.T) {
	t.Parallel()
	address, bucket := pgserver.Volume(t), s3server.Bucket(t)
	s := open(t, address, &pgstore.Options{Create: true, Bucket: s3server.Shared(t).Address(bucket)})
	c := connect(t, address)
	for _, text := range []string{
		"CREATE SEQUENCE tries",
		`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF nextval(TG_TABLE_SCHEMA || '.tries') % 2 = 1 THEN
    RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01';
  END IF;
  RETURN NEW;
END $$`,
		"CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON object FOR EACH ROW EXECUTE FUNCTION fail()",
	} {
		_, err := c.Exec(ctx, text)
		must.Do(t, err)
	}
	stray := filepath.Join(s3server.Shared(t).Dir(bucket), "objects", "00", strings.Repeat("0", 32))
	must.Do(t, os.MkdirAll(filepath.Dir(stray), 0o755))
	must.Do(t, os.WriteFile(stray, []byte("stray"), 0o644))
	old := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(stray, old, old))
	report, err := s.GC(ctx, &store.GCOptions{MinAge: time.Minute})
	if err != nil || report.Unnamed != 1 || report.Removed != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	var tries int
	must.Do(t, c.QueryRow(ctx, "SELECT last_value FROM tries").Scan(&tries))
	if tries != 4 {
		t.Errorf("%d statements", tries)
	}
}

// TestLost changes objects behind the volume's back. Reads must fail, and Check must find it.
func TestLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(path string) error
		read   string // what reading says
		check  string // what Check says; "" if it cannot find it
	}{
		"removed":   {os.Remove, "is missing in the bucket", "is missing in the bucket"},
		"cut":       {func(path string) error { return os.Truncate(path, 100_000) }, "out of reach", "has 100000 bytes in the bucket"},
		"damaged":   {func(path string) error { return damage(path) }, "another checksum", ""},
		"not there": {func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, "is missing in the bucket", "is missing in the bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _, bucket := volumeWithBucket(t, pgstore.Options{CacheSize: -1, BucketTimeout: 2 * time.Second})
			must.Do(t, v.WriteFile("file", randomBytes(1<<20), 0o644))
			must.Do(t, c.change(objectFiles(t, bucket)[0]))
			p, err := v.ReadFile("file")
			if err == nil || len(p) > 0 || !strings.Contains(err.Error(), c.read) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it reads %d bytes, %v", len(p), err)
			}
			report, err := v.Check(ctx, nil)
			must.Do(t, err)
			if c.check != "" && (len(report.Problems) != 1 || report.Problems[0].Path != "file" || !strings.Contains(report.Problems[0].What, c.check)) {
				t.Errorf("%+v", report.Problems)
			}
		})
	}
}

// damage changes a byte of a file.
func damage(path string) error {
	p, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p[len(p)/2] ^= 1
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(p, 0)
	return err
}

// TestCacheFails damages the file of chunks, and lets its disk be full. Reads go to the bucket
// then.
func TestCacheFails(t *testing.T) {
	t.Parallel()
	v, s, _ := volumeWithBucket(t, pgstore.Options{CacheDir: t.TempDir(), CacheSize: 4 << 20})
	want := randomBytes(3 << 20)
	must.Do(t, v.WriteFile("file", want, 0o644))
	read := func() {
		t.Helper()
		for range 2 {
			if got, err := v.ReadFile("file"); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		}
	}
	read()
	if pgstore.CacheSize(s) == 0 {
		t.Error("nothing is kept")
	}
	pgstore.DamageCache(s)
	read()
	pgstore.BreakCache(s)
	read()
}

// TestBucketRefused opens volumes with buckets that are not theirs, or that cannot be used. Errors
// are one line. A volume that is new is not made then.
func TestBucketRefused(t *testing.T) {
	t.Parallel()
	server := s3server.Shared(t)
	own, other, foreign := s3server.Bucket(t), s3server.Bucket(t), s3server.Bucket(t)
	address := pgserver.Volume(t)
	_ = open(t, address, &pgstore.Options{Create: true, Bucket: server.Address(own)})
	_ = open(t, pgserver.Volume(t), &pgstore.Options{Create: true, Bucket: server.Address(other)})
	answers := func(status int, text string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if status == 403 && r.Method == http.MethodGet {
				http.Error(w, "<Error><Code>NoSuchKey</Code><Message>No.</Message></Error>", 404)
				return
			}
			http.Error(w, text, status)
		}))
		t.Cleanup(server.Close)
		return "s3://bucket?endpoint=" + server.URL
	}
	must.Do(t, os.WriteFile(filepath.Join(server.Dir(foreign), "folio-volume"), []byte("hello"), 0o644))
	fresh := pgserver.Volume(t)
	must.Do(t, open(t, fresh, &pgstore.Options{Create: true}).Close())
	for name, c := range map[string]struct {
		address, bucket string
		text            string
		is              error
	}{
		"no bucket":           {fresh, server.Address("none"), "there is no such bucket", fs.ErrNotExist},
		"of another volume":   {fresh, server.Address(other), "belongs to another volume", nil},
		"of a stranger":       {fresh, server.Address(foreign), "is not Folio's", nil},
		"not the remembered":  {address, server.Address(other), "are in s3://" + own + ", and not in s3://" + other, nil},
		"nothing there":       {fresh, "s3://bucket?endpoint=http://127.0.0.1:1", "out of reach", nil},
		"another server":      {fresh, "s3://bucket?endpoint=http://" + server.Host() + "/x/y", "", nil},
		"another kind":        {fresh, answers(404, "<html>not\nhere</html>"), "(it answers 404 Not Found): check the endpoint", nil},
		"no XML":              {fresh, answers(404, "not here"), "(it answers 404 Not Found): check the endpoint", nil},
		"unknown user":        {fresh, answers(404, "<Error><Code>XAdminUserNotFound</Code><Message>No.</Message></Error>"), "check the credentials", fs.ErrPermission},
		"only to read":        {fresh, answers(403, "<Error><Code>AccessDenied</Code><Message>No.</Message></Error>"), "(AccessDenied): check the credentials, and their rights", fs.ErrPermission},
		"a bad name":          {fresh, answers(400, "<Error><Code>InvalidBucketName</Code><Message>The name\nis bad.</Message></Error>"), "(InvalidBucketName: The name is bad.)", nil},
		"no address":          {fresh, "http://bucket", "write s3://", nil},
		"a prefix with //":    {fresh, strings.Replace(server.Address(own), "?", "/a//b?", 1), "cannot be the prefix", nil},
		"a prefix with ..":    {fresh, strings.Replace(server.Address(own), "?", "/a/../b?", 1), "cannot be the prefix", nil},
		"a prefix with .":     {fresh, strings.Replace(server.Address(own), "?", "/./b?", 1), "cannot be the prefix", nil},
		"a prefix of lines":   {fresh, strings.Replace(server.Address(own), "?", "/a%0Ab?", 1), "cannot be the prefix", nil},
		"an unknown part":     {fresh, "s3://bucket?secret=a", "no parameter", nil},
		"no endpoint":         {fresh, "s3://bucket?endpoint=localhost", "no endpoint", nil},
		"a profile not there": {fresh, "s3://bucket?profile=none", "none", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			s, err := pgstore.Open(ctx, c.address, &pgstore.Options{Bucket: c.bucket, BucketTimeout: 2 * time.Second})
			if err == nil {
				_ = s.Close()
				t.Fatal("it opens")
			}
			if text := err.Error(); !strings.Contains(text, c.text) || strings.ContainsAny(text, "\n\t") || c.is != nil && !errors.Is(err, c.is) {
				t.Error(err)
			}
			if d := time.Since(begun); d > 5*time.Second {
				t.Errorf("it took %v", d)
			}
			made := pgserver.Volume(t)
			if s, err := pgstore.Open(ctx, made, &pgstore.Options{Create: true, Bucket: c.bucket, BucketTimeout: 2 * time.Second}); err == nil {
				_ = s.Close()
				t.Error("a new volume can have it")
			}
			if _, err := pgstore.Open(ctx, made, nil); !errors.Is(err, store.ErrNotVolume) {
				t.Errorf("it is there without its bucket: %v", err)
			}
		})
	}
}

// TestBucketRemembered opens a volume by its address alone, and gives one that has rows a bucket.
func TestBucketRemembered(t *testing.T) {
	t.Parallel()
	server := s3server.Shared(t)
	address, want := pgserver.Volume(t), randomBytes(1<<20)
	rows := volumeAs(t, address, &pgstore.Options{Create: true}, nil)
	must.Do(t, rows.WriteFile("in rows", want, 0o644))
	bucket := strings.Replace(server.Address(s3server.Bucket(t)), "?", "/some/prefix?", 1)
	with := volumeAs(t, address+"&bucket="+bucket, nil, nil)
	must.Do(t, with.WriteFile("in objects", want, 0o644))
	again, err := pgstore.Open(ctx, address, &pgstore.Options{ReadOnly: true})
	must.Do(t, err)
	v, err := folio.OpenStore(private.Key{}, again, nil)
	must.Do(t, err)
	defer v.Close()
	for _, name := range []string{"in rows", "in objects"} {
		if got, err := v.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if info := objectsOf(t, again); info.Objects != 1 || !strings.HasSuffix(info.Bucket, "/some/prefix") {
		t.Errorf("%+v", info)
	}
	checkWell(t, v)
}

// TestBucketOfNewVolume makes a volume with a bucket by many programs at once.
func TestBucketOfNewVolume(t *testing.T) {
	t.Parallel()
	for range 3 {
		address, bucket := pgserver.Volume(t), s3server.Bucket(t)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				s, err := pgstore.Open(ctx, address, &pgstore.Options{Create: true, Bucket: s3server.Shared(t).Address(bucket)})
				if err != nil {
					t.Error(err)
					return
				}
				must.Do(t, s.Close())
			})
		}
		wg.Wait()
		if list := objectFiles(t, bucket); len(list) > 0 {
			t.Errorf("left: %v", list)
		}
	}
}
