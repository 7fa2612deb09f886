package serve

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// codings are the content codings of this server, the best first.
var codings = []string{"zstd", "gzip"}

// zstdEncoder is safe for concurrent use. Its window is as large as the contents that are
// compressed. One more encoder at once would take 4 MiB more.
var zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithWindowSize(smallFile), zstd.WithEncoderConcurrency(2))
	if err != nil {
		panic(err) // the options are constants
	}
	return z
})

// gzipWriters hold about 1 MB each.
var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compress compresses a small content.
func compress(coding string, data []byte) []byte {
	if coding == "zstd" {
		return zstdEncoder().EncodeAll(data, nil)
	}
	var b bytes.Buffer
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&b)
	_, _ = z.Write(data) // to memory
	_ = z.Close()
	return b.Bytes()
}

// acceptedCoding returns the coding to which an Accept-Encoding header gives the most weight, of
// several the best, or "" if it has none of them.
func acceptedCoding(header string) (best string) {
	most := 0.0
	for _, coding := range codings {
		if q := weightOf(header, coding); q > most {
			best, most = coding, q
		}
	}
	return best
}

// weightOf returns the weight of a coding in an Accept-Encoding header (RFC 9110, section 12.4.2).
func weightOf(header, coding string) float64 {
	for one := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		text, ok := strings.CutPrefix(strings.TrimSpace(weight), "q=")
		if !ok {
			return 1
		}
		q, _ := strconv.ParseFloat(text, 64) // a text that is not a number means 0
		return q
	}
	return 0
}
