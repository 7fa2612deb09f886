package location

import (
	"context"
	"strings"
	"sync"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/store/pgstore"
)

// addresses has, for each address of a volume on a server as it is shown, the one that the command
// line gave, which may have a password.
var addresses sync.Map

// OnServer reports whether a volume, or a file in one, is on a server: its name begins with
// postgres://.
func OnServer(name string) bool { return pgstore.Is(name) }

// parseServer reads the address of a volume on a server, and a path behind a colon. The colon is
// the first one behind the name of the server.
func parseServer(arg string) Location {
	start := strings.Index(arg, "://") + len("://")
	if slash := strings.IndexByte(arg[start:], '/'); slash >= 0 {
		start += slash
	} else {
		start = len(arg)
	}
	l := Root(arg)
	if colon := strings.IndexByte(arg[start:], ':'); colon >= 0 {
		l = Location{Volume: arg[:start+colon], Path: Clean(arg[start+colon+1:])}
	}
	shown := pgstore.Shown(l.Volume)
	if strings.HasSuffix(shown, "://...") { // it cannot be read, and opening it says so
		return l
	}
	addresses.Store(shown, l.Volume)
	l.Volume = shown
	return l
}

// OpenVolume opens a volume, in a file or on a server.
func OpenVolume(volume string, o *folio.Options) (*folio.Volume, error) {
	if !OnServer(volume) {
		return folio.Open(volume, o)
	}
	if o == nil {
		o = new(folio.Options)
	}
	address := volume
	if given, ok := addresses.Load(volume); ok {
		address = given.(string)
	}
	s, err := pgstore.Open(context.Background(), address, &pgstore.Options{Create: o.Create, ReadOnly: o.ReadOnly, BusyTimeout: o.BusyTimeout})
	if err != nil {
		return nil, err
	}
	v, err := folio.OpenStore(s, o)
	if err != nil {
		_ = s.Close()
	}
	return v, err
}
