package dav_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

var (
	clientRequests = flag.Int("dav.requests", 300, "how many requests each client of TestClients sends")
	clientSeed     = flag.Uint64("dav.seed", uint64(time.Now().UnixNano()), "seed of TestClients")
)

// TestClients lets clients make random requests in a tree of few names, so that they get in each
// other's way. The server must not fail, no file may hold bytes that no client sent, and the volume
// must be whole at the end.
func TestClients(t *testing.T) {
	t.Logf("seed %d", *clientSeed)
	defer dav.SetMaxMemory(5000)()
	h := dav.NewHandler(volumes.New(t), nil)
	var clients sync.WaitGroup
	for i := range 6 {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(*clientSeed, uint64(i)))
			path := func() (p string) {
				for range 1 + random.IntN(3) {
					p += "/" + string(rune('a'+random.IntN(3)))
				}
				return p
			}
			for range *clientRequests {
				method := []string{"GET", "PUT", "PUT", "MKCOL", "MKCOL", "MOVE", "COPY", "DELETE", "PROPFIND", "PROPPATCH", "LOCK"}[random.IntN(11)]
				body := ""
				switch method {
				case "PUT":
					body = strings.Repeat(fmt.Sprint(random.IntN(10)), random.IntN(10_000))
				case "PROPPATCH":
					body = fmt.Sprintf(setAuthor, strings.Repeat("x", random.IntN(100)))
				case "LOCK":
					body = strings.Replace(lockBody, "SCOPE", []string{"shared", "exclusive"}[random.IntN(2)], 1)
				}
				at := path()
				w := do(h, method, at, body, "Destination", path(), "Overwrite", []string{"T", "F"}[random.IntN(2)], "Depth", []string{"0", "infinity"}[random.IntN(2)])
				if w.Code >= http.StatusInternalServerError {
					t.Errorf("%s %s: %d %s", method, at, w.Code, w.Body)
				}
				if s := w.Body.String(); method == "GET" && w.Code == http.StatusOK && s != "" && strings.Trim(s, s[:1]) != "" {
					t.Errorf("GET %s: %d bytes that nobody sent", at, len(s))
				}
				if token := w.Header().Get("Lock-Token"); token != "" {
					must(t, h, http.StatusNoContent, "UNLOCK", at, "", "Lock-Token", token)
				}
			}
		})
	}
	clients.Wait()
}
