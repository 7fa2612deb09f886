package serve

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tus/tusd/v2/pkg/handler"
)

// A client that does not get the answer to a request which makes an upload sends it again. The
// server knows such a request by the metadata id, or by the parts that an upload is made of: it
// names the upload by a sum of that, and of the day, so that there is no list to keep.

// minUploadID is the shortest id that counts. A client must make it at random: without logins,
// every client that knows the id can go on with the upload.
const minUploadID = 16

var errTwin = refuse(http.StatusLocked, "Another request makes this upload. Try again.")

// again answers a request that was sent before by the state of the upload. Otherwise it notes the
// ID that the upload is to get.
func (c *tusCall) again(meta handler.MetaData) (again bool, err error) {
	key := meta["id"]
	if concat := c.r.Header.Get("Upload-Concat"); strings.HasPrefix(concat, "final;") {
		key = concat
	}
	if len(key) < minUploadID {
		return false, nil
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	for _, day := range []time.Time{today.Add(-24 * time.Hour), today} {
		c.id = uploadID(day, c.user, c.place.target, meta["overwrite"], c.r.Header.Get("Upload-Length"), key)
		u, err := uploadStore{c.place.tree}.GetUpload(c.context(), c.id)
		if errors.Is(err, handler.ErrNotFound) {
			continue
		}
		if err != nil {
			return false, cmp.Or(c.err, err)
		}
		c.made(u.(*upload))
		return true, nil
	}
	return false, nil
}

// uploadID returns the ID of an upload that was begun on a day.
func uploadID(day time.Time, parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d %s", len(part), part)
	}
	return fmt.Sprintf("%016x-%s", day.UnixNano(), hex.EncodeToString(sum.Sum(nil)[:8]))
}

// made answers as when the upload was made.
func (c *tusCall) made(u *upload) {
	t, h := u.store.tree, c.w.Header()
	h.Set("Tus-Resumable", "1.0.0")
	h.Set("Location", t.base+tusPath+strings.TrimPrefix(t.prefix+"/", "/")+url.PathEscape(u.id))
	if i := &u.record.Info; !i.IsFinal {
		h.Set("Upload-Offset", strconv.FormatInt(i.Offset, 10))
	}
	c.w.WriteHeader(http.StatusCreated)
}
