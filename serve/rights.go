package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// A right allows a user to act at a path. The right to write includes all others, the right to read
// none.
type right uint8

const (
	rightNone   right = iota
	rightUpload       // make new files, without seeing existing ones
	rightRead
	rightWrite
)

var rightNames = map[string]right{"none": rightNone, "upload": rightUpload, "read": rightRead, "write": rightWrite}

// A rule gives a user a right to all below a path, unless a rule about a longer path says another.
type rule struct {
	user  string // "*" for all who have logged in, "-" for all who have not
	path  string // as in URLs, behind the base, without a slash at its end; "" is everything
	right right
}

// Rights say which user may read or change which part of a volume. [ParseRights] has an example.
type Rights struct{ rules []rule }

// ParseRights reads rights, one on each line: a user, a right and a path, with spaces between. The
// user "*" stands for all that have logged in, "-" for all others. The rights are none, upload,
// read and write. A line that begins with # is a comment. For example:
//
//	# everybody reads, ann writes, and everybody drops files into inbox
//	- read /
//	ann write /
//	- upload /inbox
//	ann write /inbox
func ParseRights(r io.Reader) (*Rights, error) {
	var rights Rights
	err := eachLine(r, func(text string) error {
		one, err := parseRule(text)
		rights.rules = append(rights.rules, one)
		return err
	})
	return &rights, err
}

// parseRule reads a line of rights, for example "ann write /photos". The path may contain spaces.
func parseRule(text string) (rule, error) {
	user, rest, _ := strings.Cut(text, " ")
	name, p, _ := strings.Cut(strings.TrimSpace(rest), " ")
	p = strings.TrimSpace(p)
	right, ok := rightNames[name]
	switch {
	case !ok:
		return rule{}, fmt.Errorf("%q is none of the rights none, upload, read and write", name)
	case !strings.HasPrefix(p, "/"):
		return rule{}, fmt.Errorf("%q does not begin with a slash", p)
	}
	return rule{user: user, path: strings.TrimSuffix(path.Clean(p), "/"), right: right}, nil
}

// An access is the rights of one user, in one request. An access by a link is limited to the
// current rights of the user who made it, and to the rights of the link.
type access struct {
	user   string // "" if the client has not logged in
	most   right  // at any place
	rights *Rights
	link   *linkAccess // nil for a request that does not come by a link
}

// A linkAccess holds the rights of a link.
type linkAccess struct {
	within string // the only path, and all below it
	gives  right  // read or upload
}

// at returns the right at a path, as URLs have it behind the base.
func (a *access) at(p string) right {
	p = strings.TrimSuffix(p, "/")
	right := a.most
	if a.rights != nil {
		right = right.and(a.rights.of(a.user, p))
	}
	switch {
	case a.link == nil:
		return right
	case !covers(a.link.within, p):
		return rightNone
	}
	return right.and(a.link.gives)
}

// of returns the right that the longest rule about a path gives. If two rules have the same path,
// the rule that names the user counts. For example, of "- read /a" and "ann write /a", ann gets
// write.
func (r *Rights) of(user, p string) right {
	best, found := rule{}, false
	for _, one := range r.rules {
		if !one.about(user) || !covers(one.path, p) {
			continue
		}
		if !found || len(one.path) > len(best.path) || len(one.path) == len(best.path) && one.rank() >= best.rank() {
			best, found = one, true
		}
	}
	return best.right
}

func (r *rule) about(user string) bool {
	return r.user == user && user != "" || r.user == "*" && user != "" || r.user == "-"
}

// rank orders rules about the same path. The rule that names the user counts most.
func (r *rule) rank() int {
	switch r.user {
	case "-":
		return 0
	case "*":
		return 1
	}
	return 2
}

// covers reports whether a path is dir, or below it.
func covers(dir, p string) bool {
	rest, ok := strings.CutPrefix(p, dir)
	return ok && (rest == "" || rest[0] == '/')
}

// least returns the smallest right at a path and at all places below it that rules are about.
func (a *access) least(p string) right {
	least := a.at(p)
	if a.rights == nil {
		return least
	}
	for _, one := range a.rights.rules {
		if covers(strings.TrimSuffix(p, "/"), one.path) {
			least = least.and(a.at(one.path))
		}
	}
	return least
}

// allows reports whether a right includes another.
func (r right) allows(need right) bool {
	if need == rightUpload {
		return r == rightUpload || r == rightWrite
	}
	return r >= need
}

// and returns the right that two rights both include.
func (r right) and(other right) right {
	switch {
	case r.allows(other):
		return other
	case other.allows(r):
		return r
	}
	return rightNone
}

// errDenied says that the user has no right to a place.
var errDenied = errors.New("no right to this place")

// check returns an error unless the user has a right at a path. A user who may not even read there
// does not learn whether there is a file.
func (a *access) check(p string, need right) error {
	if a.at(p).allows(need) {
		return nil
	}
	if a.user == "" && a.link == nil || a.at(p) >= rightUpload {
		return errDenied
	}
	return fs.ErrNotExist
}

// An authority holds the users who may log in, and their rights. It is immutable: a request keeps
// the authority that was current when it came.
type authority struct {
	users  *Users  // nil lets everybody in
	rights *Rights // nil gives each user the same rights
}
