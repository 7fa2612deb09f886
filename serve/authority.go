package serve

import (
	"maps"
	"slices"
	"strings"
)

// SetUsers replaces the users and the rights. Requests under way keep the old ones. A server that
// was made without users ignores u: it lets everybody in.
func (s *Server) SetUsers(u *Users, r *Rights) {
	if s.logins == nil {
		u = nil
	} else {
		s.logins.set(u)
	}
	s.who.Store(&authority{u, r})
	s.nameStrangers()
}

// nameStrangers writes to the log which rules are about users who do not exist.
func (s *site) nameStrangers() {
	who := s.who.Load()
	if names := who.rights.strangers(who.users); len(names) > 0 {
		s.notices.Warn("there are rights for users who do not exist", "users", strings.Join(names, " "))
	}
}

// strangers returns the names in rules that no user has, in order.
func (r *Rights) strangers(users *Users) []string {
	names := make(map[string]bool)
	if r != nil {
		for _, one := range r.rules {
			if one.user != "*" && one.user != "-" && (users == nil || !users.has(one.user)) {
				names[one.user] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
