package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/foliofs/folio/lab/result"
)

// The samples are in Go's benchmark format, with a capital letter in front of the case.
func TestWriteGoBench(t *testing.T) {
	t.Parallel()
	s, err := result.Read(strings.NewReader(`{"run":{"format":1,"id":"a","machine":{"os":"linux","arch":"amd64","cores":2}}}
{"contender":{"id":"mattn:sql"}}
{"case":{"id":"lookup/by=id","dir":"/data"}}
{"sample":{"case":"lookup/by=id","contender":"mattn:sql","ops":1000,"seconds":0.5,"latency":{"timed":100,"p50":400},"use":{"allocs":3000}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := WriteGoBench(&text, s); err != nil {
		t.Fatal(err)
	}
	line := "BenchmarkLookup/by=id/contender=mattn:sql-2\t1000\t5e+05 ns/op\t2000 ops/s\t400 p50-ns"
	if !strings.Contains(text.String(), line) || !strings.HasPrefix(text.String(), "goos: linux\n") || !strings.Contains(text.String(), "\t3 allocs/op") {
		t.Errorf("Go benchmark format:\n%s", text.String())
	}
}
