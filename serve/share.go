package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"github.com/foliofs/folio"
)

// A share is a link with which everybody who has it can read a file or a directory, or upload into
// a directory. It is
// bound to the inode: if the name comes to mean another file, the link does not show it, and if the
// file gets another name, the link follows.
//
// Its record is a file in the private directory of the tree. That file is made after the inode that
// it names, so that it has a greater number. The volume gives out numbers above all that are in
// use, so none has the inode's again as long as the record is there.
type share struct {
	Path       []byte    `json:"path"` // where the inode was last, in the volume
	Ino        uint64    `json:"ino"`
	Snapshot   string    `json:"snapshot,omitempty"`
	SnapshotID int64     `json:"snapshotID,omitempty"` // another one may get its name
	Upload     bool      `json:"upload,omitempty"`     // upload only
	Expires    time.Time `json:"expires,omitzero"`
	MaxSize    int64     `json:"maxSize,omitempty"` // bytes that may be uploaded in all
	Used       int64     `json:"used,omitempty"`    // bytes that were
	Names      int       `json:"names,omitempty"`   // files and directories that were made, and uploads that may become some
	User       string    `json:"user,omitempty"`
	Made       time.Time `json:"made"`

	record string // path of its record in the volume
}

// Limits of shares.
const (
	shareTime    = 7 * 24 * time.Hour // if the request does not say
	maxShareTime = 10 * 365 * 24 * time.Hour
	maxShareBody = 64 << 10
	maxLocate    = 1_000_000 // files that are looked at to find a shared one again
)

var (
	errGone      = refuse(http.StatusGone, "This link has expired, or what it led to is no longer there.")
	errShare     = refuse(http.StatusBadRequest, "The request does not describe a share.")
	errShareFull = refuse(http.StatusRequestEntityTooLarge, "More than this link allows has been uploaded.")
	errLinkNames = refuse(http.StatusRequestEntityTooLarge, "As many files have been uploaded as a link allows.")
	errLinks     = refuse(http.StatusForbidden, "You have as many links as a user may have. End some that are not needed.")
)

// recordName returns the name of the record of a share. The volume keeps only a sum of the token,
// so that its readers cannot use the links.
func recordName(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:]) + ".json"
}

// recordOf returns the path of that record.
func (t *tree) recordOf(token string) string { return t.own(shareDir, recordName(token)) }

// account counts the bytes of an upload, and the names that it makes, for the share that it comes
// by. It subtracts an upload that is given up. The receiver is nil for an upload without a share.
func (s *share) account(tx *folio.Tx, size int64, names int) error {
	if s == nil {
		return nil
	}
	text, err := tx.ReadFile(s.record)
	if err != nil {
		return err
	}
	now := share{}
	if err := json.Unmarshal(text, &now); err != nil {
		return err
	}
	now.Used, now.Names = max(0, now.Used+size), max(0, now.Names+names)
	switch {
	case now.MaxSize > 0 && now.Used > now.MaxSize && size > 0:
		return errShareFull
	case now.Names > maxLinkNames && names > 0:
		return errLinkNames
	}
	return now.save(tx, s.record)
}

// left returns how many bytes may still be uploaded, if there is a limit. Other uploads may take
// them meanwhile.
func (s *share) left() (bytes int64, limited bool) {
	if s == nil || s.MaxSize == 0 {
		return 0, false
	}
	return max(0, s.MaxSize-s.Used), true
}

func (s *share) save(tx *folio.Tx, record string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return tx.WriteFile(record, text, 0o600)
}
