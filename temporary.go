package folio

import (
	"io/fs"
	"math/rand/v2"
	"path"
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/posix"
)

// temporaryTries is how many names CreateTemp tries.
const temporaryTries = 10000

// CreateTemp makes a new file with permissions 0600 in the directory dir, and opens it for reading
// and writing, as os.CreateTemp does. Its name is pattern with a random text in place of the last
// star, or at the end; File.Name returns it, in a Root after the name of that and a slash. The
// caller must remove the file. A pattern with a slash gives fs.ErrInvalid.
func (v *writer) CreateTemp(dir, pattern string) (*File, error) {
	if strings.Contains(pattern, "/") {
		return nil, pathError("createtemp", pattern, fs.ErrInvalid)
	}
	prefix, suffix := pattern, ""
	if i := strings.LastIndexByte(pattern, '*'); i >= 0 {
		prefix, suffix = pattern[:i], pattern[i+1:]
	}
	for range temporaryTries {
		name := path.Join(dir, prefix+strconv.FormatUint(uint64(rand.Uint32()), 10)+suffix)
		f, err := v.OpenFile(name, posix.ReadWrite|posix.Create|posix.Exclusive, 0o600)
		if err == nil || !isExisting(err) {
			return f, err
		}
	}
	return nil, pathError("createtemp", path.Join(dir, pattern), fs.ErrExist)
}
