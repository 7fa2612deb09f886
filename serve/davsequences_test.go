package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// A step is a request of a client, with the status that the client needs to go on. TOKEN in a
// header is the token of the last lock on the path.
type step struct {
	status       int
	method, path string
	body         string
	headers      []string
}

// play sends what a client sends.
func play(t *testing.T, h http.Handler, user, agent string, steps []step) {
	t.Helper()
	tokens := make(map[string]string)
	for _, s := range steps {
		headers := []string{"Authorization", as(user), "User-Agent", agent}
		for _, text := range s.headers {
			headers = append(headers, strings.ReplaceAll(text, "TOKEN", tokens[s.path]))
		}
		w := must(t, h, s.status, s.method, s.path, s.body, headers...)
		if token := w.Header().Get("Lock-Token"); token != "" {
			tokens[s.path] = token
		}
	}
}

const (
	miniRedirector = "Microsoft-WebDAV-MiniRedir/10.0.22631"
	finder         = "WebDAVFS/3.0.0 (03008000) Darwin/24.4.0 (arm64)"
	windowsLock    = `<?xml version="1.0" encoding="utf-8" ?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner><D:href>PC\ann</D:href></D:owner></D:lockinfo>`
	windowsTimes   = `<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop><Z:Win32CreationTime>Wed, 15 Apr 2020 08:00:00 GMT</Z:Win32CreationTime><Z:Win32LastAccessTime>Fri, 27 Nov 2026 08:00:00 GMT</Z:Win32LastAccessTime><Z:Win32LastModifiedTime>Wed, 15 Apr 2020 10:20:30 GMT</Z:Win32LastModifiedTime><Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>`
	finderLock     = `<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner><D:href>http://www.apple.com/webdav_fs/</D:href></D:owner></D:lockinfo>`
	finderProps    = `<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:getlastmodified/><D:getcontentlength/><D:creationdate/><D:resourcetype/></D:prop></D:propfind>`
	finderRoom     = `<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:quota-available-bytes/><D:quota-used-bytes/><D:quota/><D:quotaused/></D:prop></D:propfind>`
)

func sequenceServer(t *testing.T) (*folio.Volume, *serve.Server) {
	vol := newVolume(t)
	o := writable
	o.Users = testUsers(t)
	return vol, newServer(t, vol, o)
}

// TestExplorer copies a file by the Explorer of Windows, which sets its times at the end.
func TestExplorer(t *testing.T) {
	vol, h := sequenceServer(t)
	const file = "/Photo.jpg"
	play(t, h, "ann", miniRedirector, []step{
		{200, "OPTIONS", "/", "", []string{"translate", "f"}},
		{207, "PROPFIND", "/", "", []string{"Depth", "0", "translate", "f", "Content-Length", "0"}},
		{207, "PROPFIND", "/", "", []string{"Depth", "1", "translate", "f"}},
		{404, "PROPFIND", "/desktop.ini", "", []string{"Depth", "0", "translate", "f"}},
		{404, "PROPFIND", file, "", []string{"Depth", "0", "translate", "f"}},
		{201, "PUT", file, "", []string{"translate", "f"}},
		{200, "LOCK", file, windowsLock, []string{"Timeout", "Second-3600", "Content-Type", `text/xml; charset="utf-8"`}},
		{207, "PROPPATCH", file, windowsTimes, []string{"If", "(TOKEN)"}},
		{200, "HEAD", file, "", []string{"translate", "f"}},
		{204, "PUT", file, "picture", []string{"If", "(TOKEN)", "translate", "f"}},
		{200, "LOCK", file, "", []string{"If", "(TOKEN)", "Timeout", "Second-3600"}},
		{207, "PROPPATCH", file, windowsTimes, []string{"If", "(TOKEN)"}},
		{204, "UNLOCK", file, "", []string{"Lock-Token", "TOKEN"}},
		{207, "PROPFIND", file, "", []string{"Depth", "0"}},
		{201, "MOVE", file, "", []string{"Destination", "http://localhost:8080/Renamed.jpg", "Overwrite", "F"}},
		{201, "MKCOL", "/New%20folder", "", nil},
		{201, "MOVE", "/New%20folder", "", []string{"Destination", "http://localhost:8080/Pictures", "Overwrite", "F"}},
		{201, "MOVE", "/Renamed.jpg", "", []string{"Destination", "http://localhost:8080/Pictures/Renamed.jpg", "Overwrite", "T"}},
	})
	info, err := vol.Stat("site/Pictures/Renamed.jpg")
	check(t, err)
	if info.ModTime().Unix() != 1586946030 || content(t, vol, "site/Pictures/Renamed.jpg") != "picture" {
		t.Errorf("%v", info.ModTime())
	}
}

// TestOffice opens a document by Word, saves it by way of a temporary file and two names, and shows
// to another user that it is in use.
func TestOffice(t *testing.T) {
	vol, h := sequenceServer(t)
	check(t, vol.WriteFile("site/Report.docx", []byte("first"), 0o644))
	const file, owner, temporary, old = "/Report.docx", "/~$Report.docx", "/~WRD0001.tmp", "/~WRL0002.tmp"
	play(t, h, "ann", miniRedirector, []step{
		{207, "PROPFIND", file, "", []string{"Depth", "0"}},
		{200, "LOCK", file, windowsLock, []string{"Timeout", "Second-3600"}},
		{200, "GET", file, "", nil},
		{201, "PUT", owner, "", nil},
		{200, "LOCK", owner, windowsLock, []string{"Timeout", "Second-3600"}},
		{204, "PUT", owner, "ann", []string{"If", "(TOKEN)"}},
	})
	// Bob may read it, and learns that it is in use.
	bob := []string{"Authorization", as("bob"), "User-Agent", miniRedirector}
	w := must(t, h, 423, "LOCK", file, windowsLock, bob...)
	if !strings.Contains(w.Body.String(), "no-conflicting-lock") {
		t.Error(w.Body)
	}
	must(t, h, 200, "GET", file, "", bob...)
	if body := must(t, h, 207, "PROPFIND", file, `<propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>`, append(bob, "Depth", "0")...).Body.String(); !strings.Contains(body, `PC\ann`) || strings.Contains(body, "locktoken") {
		t.Error(body)
	}
	must(t, h, 423, "PUT", file, "of bob", bob...)

	play(t, h, "ann", "Microsoft Office Word 2014", []step{
		{404, "HEAD", temporary, "", nil},
		{201, "LOCK", temporary, windowsLock, []string{"Timeout", "Second-3600"}},
		{204, "PUT", temporary, "second", []string{"If", "(TOKEN)"}},
		{207, "PROPPATCH", temporary, windowsTimes, []string{"If", "(TOKEN)"}},
		{204, "UNLOCK", temporary, "", []string{"Lock-Token", "TOKEN"}},
	})
	must(t, h, 423, "MOVE", temporary, "", "Authorization", as("ann"), "Destination", "http://localhost:8080"+file, "Overwrite", "T")
	// With its token the document makes room, and goes with the lock.
	token := must(t, h, 207, "PROPFIND", file, `<propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>`, "Depth", "0", "Authorization", as("ann")).Body.String()
	token = token[strings.Index(token, "urn:uuid:"):]
	token = token[:strings.Index(token, "<")]
	play(t, h, "ann", miniRedirector, []step{
		{201, "MOVE", file, "", []string{"Destination", "http://localhost:8080" + old, "Overwrite", "F", "If", "(<" + token + ">)"}},
		{201, "MOVE", temporary, "", []string{"Destination", "http://localhost:8080" + file, "Overwrite", "F"}},
		{204, "DELETE", old, "", nil},
		{200, "LOCK", file, windowsLock, []string{"Timeout", "Second-3600"}},
		{204, "UNLOCK", file, "", []string{"Lock-Token", "TOKEN"}},
	})
	if got := content(t, vol, "site"+file); got != "second" {
		t.Errorf("%q", got)
	}
	must(t, h, 204, "PUT", file, "of bob", bob...)
}

// TestFinder mounts the server by the Finder, and saves a file with its second file of attributes.
func TestFinder(t *testing.T) {
	vol, h := sequenceServer(t)
	check(t, vol.WriteFile("site/Cafe\u0301.txt", []byte("accent"), 0o644))
	const file, second = "/Notes.txt", "/._Notes.txt"
	play(t, h, "ann", finder, []step{
		{200, "OPTIONS", "/", "", nil},
		{207, "PROPFIND", "/", finderProps, []string{"Depth", "0"}},
		{207, "PROPFIND", "/", finderRoom, []string{"Depth", "0"}},
		{207, "PROPFIND", "/", finderProps, []string{"Depth", "1"}},
		{404, "PROPFIND", "/.DS_Store", finderProps, []string{"Depth", "0"}},
		{404, "PROPFIND", "/.hidden", finderProps, []string{"Depth", "0"}},
		{404, "PROPFIND", second, finderProps, []string{"Depth", "0"}},
		{200, "GET", "/Cafe%CC%81.txt", "", nil},
		{404, "PROPFIND", file, finderProps, []string{"Depth", "0"}},
		{201, "PUT", file, "", nil},
		{200, "LOCK", file, finderLock, []string{"Depth", "0", "Timeout", "Second-600"}},
		{207, "PROPFIND", file, finderProps, []string{"Depth", "0"}},
		{204, "PUT", file, "text", []string{"If", "(TOKEN)", "X-Expected-Entity-Length", "4"}},
		{207, "PROPFIND", file, finderProps, []string{"Depth", "0"}},
		{200, "LOCK", file, "", []string{"If", "(TOKEN)", "Timeout", "Second-600"}},
		{204, "UNLOCK", file, "", []string{"Lock-Token", "TOKEN"}},
		{201, "PUT", second, "", nil},
		{200, "LOCK", second, finderLock, []string{"Depth", "0", "Timeout", "Second-600"}},
		{204, "PUT", second, strings.Repeat("\x00", 4096), []string{"If", "(TOKEN)", "X-Expected-Entity-Length", "4096"}},
		{204, "UNLOCK", second, "", []string{"Lock-Token", "TOKEN"}},
		{201, "MOVE", file, "", []string{"Destination", "http://localhost:8080/Renamed.txt", "Overwrite", "F"}},
		{201, "MOVE", second, "", []string{"Destination", "http://localhost:8080/._Renamed.txt", "Overwrite", "F"}},
		{204, "DELETE", "/._Renamed.txt", "", nil},
		{204, "DELETE", "/Renamed.txt", "", nil},
	})
	if _, err := vol.Stat("site/Renamed.txt"); err == nil {
		t.Error("not removed")
	}
}
