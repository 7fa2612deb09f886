package dav

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Clients that keep directories alike set the time of modification of uploaded files: by the header
// X-OC-Mtime of ownCloud, or by a property.

// MtimeHeader is the header of ownCloud and Nextcloud for times of modification. The client of an
// upload sends the time, in seconds since 1970. An answer with "accepted" says that the server has
// kept it.
const MtimeHeader = "X-Oc-Mtime"

var (
	errMtime = errors.New("X-OC-Mtime is a number of seconds since 1970")
	errTime  = errors.New("the value of the property is no time")
)

// Mtime returns the time that the header X-OC-Mtime of a request has, and the zero time if it has
// no such header. The error is a *Refusal.
func Mtime(r *http.Request) (time.Time, error) {
	text := r.Header.Get(MtimeHeader)
	if text == "" {
		return time.Time{}, nil
	}
	t, ok := unixTime(text)
	if !ok {
		return time.Time{}, refuse(errMtime, http.StatusBadRequest)
	}
	return t, nil
}

// After returns the time of modification for a file that replaces the file old, if a client asks
// for the time t. Clients send whole seconds. So two contents of one second would have the same
// ETag if After did not choose other nanoseconds.
func After(old fs.FileInfo, t time.Time) time.Time {
	if old.ModTime().Unix() != t.Unix() {
		return t
	}
	nanos := time.Now().Nanosecond()
	if nanos == old.ModTime().Nanosecond() {
		nanos ^= 1
	}
	return time.Unix(t.Unix(), int64(nanos))
}

// maxTime is the last second that a volume keeps.
const maxTime = 1<<63/1_000_000_000 - 1

// unixTime reads seconds since 1970, perhaps with a fraction.
func unixTime(text string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	nanos, badFraction := strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
	return time.Unix(seconds, int64(nanos)), err == nil && badFraction == nil && seconds > 0 && seconds < maxTime
}

// parseTime reads a time as clients write it into properties.
func parseTime(text string) (t time.Time, ok bool) {
	text = strings.TrimSpace(text)
	if t, ok := unixTime(text); ok {
		return t, true
	}
	t, err := http.ParseTime(text)
	if err != nil {
		t, err = time.Parse(time.RFC3339, text)
	}
	return t, err == nil && t.Unix() > 0 && t.Unix() < maxTime
}

// modifiedSpace takes the place of DAV: in the name of getlastmodified, on the way through package
// webdav, which lets no client set that.
const modifiedSpace = "folio:modified"

// Properties whose value is the time of modification. Clients of Windows write win32Modified;
// rclone and Nextcloud's clients write the one without "get".
var (
	modified      = xml.Name{Space: modifiedSpace, Local: "getlastmodified"}
	lastModified  = xml.Name{Space: "DAV:", Local: "lastmodified"}
	win32Modified = xml.Name{Space: "urn:schemas-microsoft-com:", Local: "Win32LastModifiedTime"}
)

// renameModified returns the body of a PROPPATCH with modifiedSpace in the name of getlastmodified.
func renameModified(body []byte) []byte {
	var out bytes.Buffer
	d := xml.NewDecoder(bytes.NewReader(body))
	for copied := int64(0); ; {
		start := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			out.Write(body[copied:])
			return out.Bytes() // package webdav returns the error
		}
		end, tag := d.InputOffset(), ""
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name == (xml.Name{Space: "DAV:", Local: modified.Local}) {
				tag = "<" + modified.Local + ` xmlns="` + modifiedSpace + `">`
				if body[end-2] == '/' {
					tag = tag[:len(tag)-1] + "/>"
				}
			}
		case xml.EndElement:
			if t.Name == (xml.Name{Space: "DAV:", Local: modified.Local}) && end > start {
				tag = "</" + modified.Local + ">"
			}
		}
		if tag != "" {
			out.Write(body[copied:start])
			out.WriteString(tag)
			copied = end
		}
	}
}

// restoreModified gives getlastmodified its name back in the answer to a PROPPATCH.
func restoreModified(answer []byte) []byte {
	return bytes.ReplaceAll(answer, []byte(`<getlastmodified xmlns="`+modifiedSpace+`"></getlastmodified>`), []byte("<D:getlastmodified></D:getlastmodified>"))
}
