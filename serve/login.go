package serve

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits of logging in.
const (
	loginKept    = 5 * time.Minute // how long a password that was right is not hashed again
	loginsKept   = 4096            // how many of them
	failuresMost = 10              // wrong passwords from one address within failuresFor
	failuresFor  = time.Minute
	failuresKept = 4096 // addresses
	hashesAtOnce = 2    // argon2id takes up to 64 MiB
)

// logins finds out who sends a request. Hashing a password takes long on purpose, so it remembers
// which were right, by a keyed sum of them.
type logins struct {
	users *Users
	key   [32]byte
	slots chan struct{} // one for each password that is hashed now

	mu       sync.Mutex // guards the fields below
	known    map[[sha256.Size]byte]time.Time
	failures map[string]*failureCount // by address
}

type failureCount struct {
	n     int
	since time.Time
}

func newLogins(u *Users) *logins {
	l := &logins{users: u, slots: make(chan struct{}, hashesAtOnce)}
	_, _ = rand.Read(l.key[:]) // it never fails
	l.known, l.failures = make(map[[sha256.Size]byte]time.Time), make(map[string]*failureCount)
	return l
}

var errCredentials = &failure{status: http.StatusUnauthorized, message: "The name or the password is wrong."}

// user returns who sends a request, and "" for a client that does not say who it is. client is its
// address.
func (l *logins) user(r *http.Request, client string) (string, error) {
	header := r.Header.Get("Authorization")
	if header == "" || l == nil {
		return "", nil
	}
	address := addressOf(client)
	if wait := l.wait(address); wait > 0 {
		return "", tooManyFailures(wait)
	}
	if scheme, token, _ := strings.Cut(header, " "); strings.EqualFold(scheme, "Bearer") {
		if name, ok := l.users.ofToken(strings.TrimSpace(token)); ok {
			return name, nil
		}
	} else if name, password, ok := r.BasicAuth(); ok && l.password(r, name, password) {
		return name, nil
	}
	if r.Context().Err() != nil {
		return "", r.Context().Err()
	}
	l.failed(address)
	return "", errCredentials
}

func tooManyFailures(wait time.Duration) error {
	seconds := strconv.Itoa(int(wait/time.Second) + 1)
	return &failure{
		status: http.StatusTooManyRequests, message: "Too many wrong passwords came from your address. Wait for a minute.",
		header: http.Header{"Retry-After": {seconds}},
	}
}

// addressOf returns the address of a client without its port, by which wrong passwords are counted.
func addressOf(client string) string {
	host, _, err := net.SplitHostPort(client)
	if err != nil {
		host = client
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		return ip.Mask(net.CIDRMask(64, 128)).String() // one client has all of these
	}
	return host
}

// password reports whether a password is right.
func (l *logins) password(r *http.Request, name, password string) bool {
	sum := l.sum(name, password)
	l.mu.Lock()
	until, ok := l.known[sum]
	l.mu.Unlock()
	if ok && time.Now().Before(until) {
		return true
	}
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-r.Context().Done():
		return false
	}
	if !l.users.matches(name, password) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.known) >= loginsKept {
		clear(l.known)
	}
	l.known[sum] = time.Now().Add(loginKept)
	return true
}

func (l *logins) sum(name, password string) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, l.key[:])
	_, _ = h.Write([]byte(name + "\x00" + password))
	return [sha256.Size]byte(h.Sum(nil))
}

// wait returns how long an address has to wait after too many wrong passwords.
func (l *logins) wait(address string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.failures[address]
	if f == nil || f.n < failuresMost {
		return 0
	}
	left := failuresFor - time.Since(f.since)
	if left <= 0 {
		delete(l.failures, address)
	}
	return max(left, 0)
}

func (l *logins) failed(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.failures[address]
	if f == nil || time.Since(f.since) > failuresFor {
		if len(l.failures) >= failuresKept {
			clear(l.failures)
		}
		f = &failureCount{since: time.Now()}
		l.failures[address] = f
	}
	f.n++
}
