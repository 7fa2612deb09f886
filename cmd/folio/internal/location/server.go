package location

import (
	"cmp"
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/quote"
	"github.com/foliofs/folio/pgstore"
)

// OnServer reports whether a volume, or a file in one, is on a server: its name begins with
// postgres://.
func OnServer(name string) bool { return pgstore.IsAddress(name) }

var (
	errOnServer   = errors.New("is on a server")
	errBucket     = errors.New("has a bucket that ends at a colon: in an address write s3%3A//BUCKET, and %3F for a ?")
	errNoSnapshot = errors.New("is on a server, where volumes have no snapshots")
)

// InFile refuses a volume on a server for a command that is about the file of a volume, or about
// files on disk. The error names way, another way to do it.
func InFile(name, way string) error {
	if !OnServer(name) {
		return nil
	}
	return failure.Hint(failure.At(shown(name), errOnServer), way)
}

// HasSnapshots refuses a volume on a server for a command that is about snapshots.
func HasSnapshots(volume string) error {
	if !OnServer(volume) {
		return nil
	}
	return failure.Hint(failure.At(shown(volume), errNoSnapshot), "folio cp -r copies the volume, or a directory of it")
}

// parseServer reads the address of a volume on a server, and a path behind a colon. An @ behind the
// name of the volume begins the name of a snapshot, which is refused when it is opened.
func parseServer(arg string) Location {
	address, name, _ := cutPath(arg)
	l := Location{Volume: address, Path: Clean(name)}
	if volume, snapshot := cutSnapshot(address); snapshot != "" && readable(volume) {
		l.Volume, l.Snapshot = volume, snapshot
	}
	given := l.Volume
	if l.Volume = pgstore.ShownAddress(given); !readable(given) { // opening it says so
		l.Path = "." // it may have the end of the password
	}
	if l.Volume != given {
		l.address = given
	}
	return l
}

// shown is how errors show an address, perhaps with a path, as the command line gave it.
func shown(arg string) string {
	return parseServer(arg).String()
}

// inAddress finds an address, which may stand behind a flag.
var inAddress = regexp.MustCompile(`(?s)postgres(ql)?://.+`)

// Hiding returns a replacer that hides the passwords in the addresses of servers among the
// arguments of a command line. An address may be anywhere in them, also where a file on disk is
// expected. The replacer is nil if there is no address.
func Hiding(args []string) *strings.Replacer {
	var given []string
	for _, arg := range args {
		if address := inAddress.FindString(arg); address != "" {
			given = append(given, strings.TrimRight(address, ":/")) // a colon follows it in errors
		}
	}
	if given == nil {
		return nil
	}
	slices.SortFunc(given, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	var pairs []string
	for _, address := range given {
		hidden := shown(address)
		for _, spelled := range []string{address, quote.Escape(address), path.Clean(address)} {
			if spelled != hidden {
				pairs = append(pairs, spelled, hidden)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

// readable reports whether an address can be read, and shown without its password.
func readable(address string) bool {
	return !strings.HasSuffix(pgstore.ShownAddress(address), "://...")
}

// cutPath cuts a path off an address. It reports whether there is a colon before it: the first one
// behind the name of the server.
func cutPath(arg string) (address, path string, ok bool) {
	start := database(arg)
	if colon := strings.IndexByte(arg[start:], ':'); colon >= 0 {
		return arg[:start+colon], arg[start+colon+1:], true
	}
	return arg, "", false
}

// database returns where the name of the database begins in an address, with a slash.
func database(address string) int {
	start := strings.Index(address, "://") + len("://")
	if slash := strings.IndexByte(address[start:], '/'); slash >= 0 {
		return start + slash
	}
	return len(address)
}

// cutSnapshot cuts an @ and the name of a snapshot off an address. They follow the database, or the
// parameter volume if that comes last. If there is no user, an @ behind the database may as well be
// the end of a password with a slash in it.
func cutSnapshot(address string) (volume, snapshot string) {
	at, start := strings.LastIndexByte(address, '@'), database(address)
	if at < start || strings.ContainsAny(address[at:], "/?&=") {
		return address, ""
	}
	last := address[start:at]
	inQuery := strings.ContainsRune(last, '?')
	if !inQuery && !strings.ContainsRune(address[:start], '@') {
		return address, ""
	}
	if inQuery && !strings.HasPrefix(last[strings.LastIndexAny(last, "?&")+1:], "volume=") {
		return address, ""
	}
	return address[:at], address[at+1:]
}

// NamesDir reports whether the command line names a directory of a volume on a server: the address
// and a colon.
func NamesDir(arg string) bool {
	_, _, ok := cutPath(arg)
	return ok
}

// wholeBucket refuses an address whose bucket is not escaped. The path seems to begin at its colon.
func wholeBucket(volume string) error {
	if OnServer(volume) && strings.Contains(volume+"&", "bucket=s3&") {
		return failure.At(volume, errBucket)
	}
	return nil
}

// OpenVolume opens the volume as it is, in a file or on a server.
func (l Location) OpenVolume(o *folio.Options) (*folio.Volume, error) {
	volume := l.Volume
	if !OnServer(volume) {
		if o != nil && o.Create && !Exists(volume) {
			if err := mayEnd(volume, ""); err != nil {
				return nil, err
			}
		}
		return folio.Open(volume, o)
	}
	if o == nil {
		o = new(folio.Options)
	}
	return l.openOnServer(&pgstore.Options{Create: o.Create, ReadOnly: o.ReadOnly, BusyTimeout: o.BusyTimeout})
}

// openOnServer opens a volume by the address as it was given, with its password: what errors and
// lists show is without it.
func (l Location) openOnServer(o *pgstore.Options) (*folio.Volume, error) {
	if err := wholeBucket(l.Volume); err != nil {
		return nil, err
	}
	v, err := pgstore.Open(context.Background(), cmp.Or(l.address, l.Volume), o)
	if errors.Is(err, folio.ErrNotVolume) {
		return nil, failure.Rehint(err, "folio create makes volumes")
	}
	return v, err
}
