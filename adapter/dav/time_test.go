package dav_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

const (
	someDay  = "Wed, 15 Apr 2020 10:20:30 GMT"
	someTime = "1586946030"
	getTime  = `<propfind xmlns="DAV:"><prop><getlastmodified/></prop></propfind>`
)

// setTime is a PROPPATCH of a property with a time.
func setTime(property, value string) string {
	return `<?xml version="1.0" encoding="utf-8"?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop><` + property + ">" + value + "</" + strings.Fields(property)[0] + "></D:prop></D:set></D:propertyupdate>"
}

// TestTimes sets the time of a file in all ways that clients have.
func TestTimes(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	has := func(what, name string) {
		t.Helper()
		if body := must(t, h, http.StatusMultiStatus, "PROPFIND", name, getTime, "Depth", "0").Body.String(); !strings.Contains(body, someDay) {
			t.Errorf("%s: %s", what, body)
		}
	}
	for _, text := range []string{"small", strings.Repeat("large ", 1<<18)} {
		w := must(t, h, http.StatusCreated, "PUT", "/a", text, "X-OC-Mtime", someTime)
		if got := w.Header()["X-Oc-Mtime"]; len(got) != 1 || got[0] != "accepted" {
			t.Errorf("X-OC-Mtime: %q", got)
		}
		has("X-OC-Mtime", "/a")
		if info, err := vol.Stat("a"); err != nil || info.ModTime().Unix() != 1586946030 || w.Header().Get("ETag") != must(t, h, 200, "HEAD", "/a", "").Header().Get("ETag") {
			t.Errorf("%v %v", info, err)
		}
		must(t, h, http.StatusNoContent, "DELETE", "/a", "")
	}
	must(t, h, http.StatusCreated, "PUT", "/b", "x", "X-OC-Mtime", someTime+".25")
	first := must(t, h, http.StatusNoContent, "PUT", "/b", "y", "X-OC-Mtime", someTime).Header().Get("ETag")
	if second := must(t, h, http.StatusNoContent, "PUT", "/b", "x", "X-OC-Mtime", someTime).Header().Get("ETag"); first == second {
		t.Errorf("two contents have the tag %s", first)
	}
	for _, bad := range []string{"yesterday", "-1", "0", "99999999999999", "1e9", "0x5e96e4ee", "1.x", "NaN"} {
		must(t, h, http.StatusBadRequest, "PUT", "/b", "y", "X-OC-Mtime", bad)
	}
	mustHold(t, vol, "b", "x")
	has("with a fraction", "/b")

	must(t, h, http.StatusCreated, "MKCOL", "/d", "")
	for _, name := range []string{"/b", "/d"} {
		for _, p := range [][2]string{
			{"D:getlastmodified", someDay},
			{`getlastmodified xmlns="DAV:"`, " 2020-04-15T12:20:30+02:00 "},
			{"D:lastmodified", someTime},
			{"Z:Win32LastModifiedTime", someDay},
		} {
			must(t, h, http.StatusMultiStatus, "PROPPATCH", name, setTime("D:lastmodified", "1000000000"))
			body := must(t, h, http.StatusMultiStatus, "PROPPATCH", name, setTime(p[0], p[1])).Body.String()
			if local := strings.Fields(p[0][strings.Index(p[0], ":")+1:])[0]; !strings.Contains(body, "200 OK") || strings.Contains(body, "folio:") || !strings.Contains(body, strings.TrimSuffix(local, ` `)) && !strings.Contains(body, "getlastmodified") {
				t.Errorf("%s: %s", p[0], body)
			}
			mustBeXML(t, body)
			has(p[0], name)
		}
	}
	// What Windows has set, it reads back as it is now.
	must(t, h, http.StatusMultiStatus, "PROPPATCH", "/b", setTime("D:lastmodified", "1000000000"))
	if body := must(t, h, http.StatusMultiStatus, "PROPFIND", "/b", "", "Depth", "0").Body.String(); !strings.Contains(body, `Win32LastModifiedTime xmlns="urn:schemas-microsoft-com:">Sun, 09 Sep 2001 01:46:40 GMT<`) {
		t.Error(body)
	}
	must(t, h, http.StatusMultiStatus, "PROPPATCH", "/b", setTime("D:getlastmodified", someDay))
	must(t, h, http.StatusNoContent, "MOVE", "/b", "", "Destination", "/d", "Overwrite", "T")
	has("MOVE", "/d")
	for _, bad := range []string{setTime("D:getlastmodified", "soon"), setTime("D:lastmodified", ""), setTime("D:getlastmodified", "Mon, 01 Jan 1601 00:00:00 GMT"), `<propertyupdate xmlns="DAV:"><remove><prop><getlastmodified/></prop></remove></propertyupdate>`, setTime("D:getetag", someDay), setTime("D:getlastmodified", "<x/>")} {
		if body := must(t, h, http.StatusMultiStatus, "PROPPATCH", "/d", bad).Body.String(); strings.Contains(body, "200 OK") || strings.Contains(body, "folio:") {
			t.Errorf("%s: %s", bad, body)
		}
	}
	if body := must(t, h, http.StatusMultiStatus, "PROPPATCH", "/d", setTime("Z:Win32LastModifiedTime", "Mon, 01 Jan 1601 00:00:00 GMT")).Body.String(); !strings.Contains(body, "200 OK") {
		t.Error(body) // Windows does not know the time
	}
	has("after what was refused", "/d")
}

// TestChecksums uploads what is, and what is not, as OC-Checksum says.
func TestChecksums(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	sums := map[string]string{"MD5": "5d41402abc4b2a76b9719d911017c592", "SHA1": "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d", "sha256": "2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824", "ADLER32": "062c0215", "CRC64": "anything"}
	for kind, sum := range sums {
		must(t, h, http.StatusCreated, "PUT", "/"+kind, "hello", "OC-Checksum", kind+":"+sum)
		mustHold(t, vol, kind, "hello")
		if kind == "CRC64" {
			continue
		}
		for _, body := range []string{"", "hell", "hello!", strings.Repeat("hello", 1<<19)} {
			must(t, h, http.StatusBadRequest, "PUT", "/"+kind, body, "OC-Checksum", kind+":"+sum)
			must(t, h, http.StatusBadRequest, "PUT", "/new", body, "OC-Checksum", kind+":"+sum)
		}
		mustHold(t, vol, kind, "hello")
		if _, err := vol.Stat("new"); err == nil {
			t.Errorf("%s: stored", kind)
		}
	}
}
