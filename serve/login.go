package serve

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Limits of logging in.
const (
	loginKept    = 5 * time.Minute // how long a password that was right is not hashed again
	loginsKept   = 4096            // how many of them
	failuresMost = 10              // tries with a wrong password from one address within failuresFor
	networkMost  = 100             // and from one network of IPv6, which may have many addresses
	refusedMost  = 1000            // tries, looked at or not, after which remembered passwords do not help
	failuresFor  = time.Minute
	failuresKept = 4096 // addresses and networks
	hashesAtOnce = 2    // argon2id takes up to 64 MiB
)

// logins finds out who sends a request. Hashing a password takes long on purpose, so it remembers
// the right ones, by a keyed sum of each.
//
//	G1  A try counts before its password is hashed, so that tries that come at once are not more
//	    than tries one after the other. A right one is given back.
//	G2  One address has at most one password hashed at a time, so that other addresses do not
//	    wait for its guesses.
//	G3  Right tokens, and passwords that are remembered of the same address, are no tries: a
//	    client that guesses keeps no one out who has logged in. Only that address can find out by
//	    guessing fast which passwords are remembered, and not without limit.
type logins struct {
	key   [32]byte
	slots chan struct{} // one for each password that is hashed now

	underway singleflight.Group // passwords that are looked at now, by their sum

	mu    sync.Mutex // guards the fields below
	users *Users
	known map[[sha256.Size]byte]time.Time
	tries map[netip.Prefix]*tries
}

// tries counts the tries of an address or a network.
type tries struct {
	n     int
	since time.Time
	slot  chan struct{} // of one password that is hashed now
}

func newLogins(u *Users) *logins {
	l := &logins{users: u, slots: make(chan struct{}, hashesAtOnce)}
	_, _ = rand.Read(l.key[:]) // it never fails
	l.known, l.tries = make(map[[sha256.Size]byte]time.Time), make(map[netip.Prefix]*tries)
	return l
}

var errCredentials = &failure{status: http.StatusUnauthorized, message: "The name or the password is wrong."}

// set lets other users count. No password that was right before is remembered.
func (l *logins) set(u *Users) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users = u
	clear(l.known)
}

// user returns which of some users sends a request, and "" for a client that does not say who it
// is. client is its address.
func (l *logins) user(r *http.Request, client string, users *Users) (string, error) {
	header := r.Header.Get("Authorization")
	if header == "" || l == nil {
		return "", nil
	}
	name, password, basic := r.BasicAuth()
	if scheme, token, _ := strings.Cut(header, " "); strings.EqualFold(scheme, "Bearer") {
		if name, ok := users.ofToken(strings.TrimSpace(token)); ok {
			return name, nil
		}
	}
	from := networksOf(client)
	if basic && l.remembers(from[0], users, name, password) {
		return name, nil
	}
	if !basic {
		_, err := l.try(from)
		return "", cmp.Or(err, error(errCredentials))
	}
	sum := l.sum(from[0], name, password)
	_, err, _ := l.underway.Do(fmt.Sprintf("%p%s", users, sum), func() (any, error) { return nil, l.check(from, users, name, password) })
	return name, err
}

// check returns an error unless a password is right (G1). Requests that come with the same one at
// the same time, as a browser sends them, share one try.
func (l *logins) check(from []netip.Prefix, users *Users, name, password string) error {
	slot, err := l.try(from)
	if err != nil {
		return err
	}
	if !l.matches(slot, users, name, password) {
		return errCredentials
	}
	l.remember(from, users, name, password)
	return nil
}

func tooManyFailures(wait time.Duration) error {
	seconds := strconv.Itoa(int(wait/time.Second) + 1)
	return &failure{
		status: http.StatusTooManyRequests, message: "Too many wrong passwords came from your address. Wait for a minute.",
		header: http.Header{"Retry-After": {seconds}},
	}
}

// networksOf returns the address of a client without its port, by which tries are counted, and the
// networks that count, too. With IPv6 one client has all addresses that begin with the same 64
// bits, and may have all that begin with the same 48.
func networksOf(client string) []netip.Prefix {
	addr, ok := hostAddr(client)
	if !ok {
		return []netip.Prefix{{}}
	}
	if addr.Is4() {
		return []netip.Prefix{netip.PrefixFrom(addr, 32)}
	}
	return []netip.Prefix{netip.PrefixFrom(addr, 64).Masked(), netip.PrefixFrom(addr, 48).Masked()}
}

// remembers reports whether a password was right some minutes ago, from the same address.
func (l *logins) remembers(from netip.Prefix, users *Users, name, password string) bool {
	return l.remembersSum(from, users, l.sum(from, name, password))
}

// remembersSum is remembers for the sum of a password.
func (l *logins) remembersSum(from netip.Prefix, users *Users, sum [sha256.Size]byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tries[from]; t != nil && t.n >= refusedMost && time.Since(t.since) <= failuresFor {
		return false
	}
	until, ok := l.known[sum]
	return ok && l.users == users && time.Now().Before(until)
}

// remember notes a password that was right, and takes the count of its try back.
func (l *logins) remember(from []netip.Prefix, users *Users, name, password string) {
	sum := l.sum(from[0], name, password)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.known) >= loginsKept {
		clear(l.known)
	}
	if l.users == users {
		l.known[sum] = time.Now().Add(loginKept)
	}
	for _, network := range from {
		if t := l.tries[network]; t != nil && t.n > 0 {
			t.n--
		}
	}
}

// matches reports whether a password is right (G2). It takes long on purpose.
func (l *logins) matches(slot chan struct{}, users *Users, name, password string) bool {
	for _, s := range []chan struct{}{slot, l.slots} {
		s <- struct{}{}
		defer func() { <-s }()
	}
	return users.matches(l.key[:], name, password)
}

func (l *logins) sum(from netip.Prefix, name, password string) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, l.key[:])
	_, _ = h.Write([]byte(from.String() + "\x00" + name + "\x00" + password))
	return [sha256.Size]byte(h.Sum(nil))
}

// try counts a try (G1), and returns the slot of the address, or an error if there were too many.
func (l *logins) try(from []netip.Prefix) (slot chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	all := make([]*tries, len(from))
	for i, network := range from {
		most := failuresMost
		if i > 0 {
			most = networkMost
		}
		if all[i] = l.triesOf(network, now); all[i].n >= most {
			err = tooManyFailures(failuresFor - now.Sub(all[i].since))
		}
	}
	if err != nil {
		all = all[:1] // a refused try does not count for the network
	}
	for _, t := range all {
		t.n++
	}
	return all[0].slot, err
}

// triesOf returns the tries of a network, none if the last ones are long ago. The caller must hold
// mu.
func (l *logins) triesOf(network netip.Prefix, now time.Time) *tries {
	t := l.tries[network]
	if t == nil {
		l.makeRoom(now)
		t = &tries{since: now, slot: make(chan struct{}, 1)}
		l.tries[network] = t
	}
	if now.Sub(t.since) > failuresFor {
		t.n, t.since = 0, now
	}
	return t
}

// makeRoom forgets the tries of long ago. If there are none, it forgets the fewest, and of these
// the oldest: a client with many addresses must not wash its network out. The caller must hold mu.
func (l *logins) makeRoom(now time.Time) {
	if len(l.tries) < failuresKept {
		return
	}
	var least netip.Prefix
	for network, t := range l.tries {
		o := l.tries[least]
		switch {
		case now.Sub(t.since) > failuresFor:
			delete(l.tries, network)
		case o == nil || t.n < o.n || t.n == o.n && t.since.Before(o.since):
			least = network
		}
	}
	if len(l.tries) >= failuresKept {
		delete(l.tries, least)
	}
}
