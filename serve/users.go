package serve

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// Users are the names and the hashed passwords of those who may log in.
type Users struct {
	hashes map[string]string // of passwords, by user
	names  []string          // of those, in order of the file
	tokens map[[sha256.Size]byte]string
}

// Limits on the cost of hashes in a users file, so that no login takes all memory or minutes.
const (
	maxBcrypt       = 15
	bcryptLen       = 60       // bytes of any such hash
	maxArgonMemory  = 64 << 10 // KiB
	maxArgonTime    = 16
	maxArgonThreads = 16
)

// ParseUsers reads users, one on each line: NAME:HASH. The hash is one of
//
//	$2y$...        bcrypt, as htpasswd -B writes it
//	$argon2id$...  argon2id, in the form of the argon2 command
//	sha256:HEX     the SHA-256 sum of a long random token, which the client sends as a Bearer token
//
// A line that begins with # is a comment.
func ParseUsers(r io.Reader) (*Users, error) {
	u := &Users{hashes: make(map[string]string), tokens: make(map[[sha256.Size]byte]string)}
	return u, eachLine(r, u.add)
}

// eachLine calls fn with each line that is neither empty nor a comment. Errors say which line they
// are about.
func eachLine(r io.Reader, fn func(text string) error) error {
	lines := bufio.NewScanner(r)
	n := 1
	for ; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		if err := fn(text); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line %d: longer than %d bytes", n, bufio.MaxScanTokenSize)
	}
	return lines.Err()
}

var (
	errNoHash   = errors.New("not NAME:HASH")
	errUserName = errors.New("a name has letters, digits and any of . _ @ + - and does not begin with a dash")
	errToken    = errors.New("a token is sha256: and the 64 hex digits of a sum")
	errHash     = errors.New("the hash is neither bcrypt nor argon2id nor sha256: make one by htpasswd -B")
	errTwice    = errors.New("the name comes a second time")
)

// add reads a line of users: NAME:HASH. A user may have several tokens, but one password.
func (u *Users) add(text string) error {
	name, hash, ok := strings.Cut(text, ":")
	switch {
	case !ok || hash == "":
		return errNoHash
	case !validUser(name):
		return errUserName
	}
	if sum, ok := strings.CutPrefix(hash, "sha256:"); ok {
		return u.addToken(name, sum)
	}
	if u.hashes[name] != "" {
		return errTwice
	}
	if err := checkHash(hash); err != nil {
		return err
	}
	u.hashes[name], u.names = hash, append(u.names, name)
	return nil
}

// validUser reports whether a name can stand in a file of rights and in a log: without spaces and
// colons. It must not begin with a dash, because "-" stands there for all who have not logged in.
func validUser(name string) bool {
	const signs = "._@+-"
	for i, r := range name {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && (!strings.ContainsRune(signs, r) || i == 0 && r == '-') {
			return false
		}
	}
	return name != ""
}

func (u *Users) addToken(name, sum string) error {
	b, err := hex.DecodeString(sum)
	if err != nil || len(b) != sha256.Size {
		return errToken
	}
	u.tokens[[sha256.Size]byte(b)] = name
	return nil
}

// checkHash refuses a hash that no password can be compared with.
func checkHash(hash string) error {
	if strings.HasPrefix(hash, "$argon2id$") {
		_, err := parseArgon(hash)
		return err
	}
	cost, err := bcrypt.Cost([]byte(hash))
	switch {
	case err != nil || len(hash) != bcryptLen:
		return errHash
	case cost > maxBcrypt:
		return fmt.Errorf("a bcrypt cost of %d is too much: %d is the most", cost, maxBcrypt)
	}
	return nil
}

// An argonHash is a hash of the form $argon2id$v=19$m=65536,t=3,p=4$SALT$HASH.
type argonHash struct {
	memory, time uint32
	threads      uint8
	salt, sum    []byte
}

var errArgon = errors.New("not $argon2id$v=19$m=KIB,t=TIMES,p=THREADS$SALT$HASH")

// parseArgon reads a hash of argon2id, for example $argon2id$v=19$m=65536,t=3,p=4$SALT$SUM. It
// refuses parameters that would let each login take too much memory or time.
func parseArgon(hash string) (h argonHash, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[2] != "v=19" {
		return h, errArgon
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.time, &h.threads); err != nil {
		return h, errArgon
	}
	if h.salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return h, errArgon
	}
	if h.sum, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil {
		return h, errArgon
	}
	switch {
	case h.time < 1 || h.threads < 1 || len(h.salt) < 8 || len(h.sum) < 16 || len(h.sum) > 64:
		return h, errArgon
	case h.memory > maxArgonMemory || h.time > maxArgonTime || h.threads > maxArgonThreads:
		return h, fmt.Errorf("argon2id with %s is too much: m=%d,t=%d,p=%d is the most", parts[3], maxArgonMemory, maxArgonTime, maxArgonThreads)
	}
	return h, nil
}

func (h *argonHash) matches(password string) bool {
	sum := argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(len(h.sum)))
	return subtle.ConstantTimeCompare(sum, h.sum) == 1
}

// nobody is the hash that a password is compared with if no user has one.
const nobody = "$2a$10$7EqJtq98hPqEX7fNZaFWoO5sG8g0mC0mZyJ9a6nqvJfW1Jc0yQp5e"

// matches reports whether a password belongs to a user. It takes long on purpose, also for a name
// that no user has, so that times do not show which names exist. For such a name, the key chooses a
// user, whose hash the password is compared with: always the same one, which takes the same time.
func (u *Users) matches(key []byte, name, password string) bool {
	hash, ok := u.hashes[name]
	switch {
	case ok:
	case len(u.names) == 0:
		hash = nobody
	default:
		h := hmac.New(sha256.New, key)
		_, _ = h.Write([]byte("no user\x00" + name))
		hash = u.hashes[u.names[binary.BigEndian.Uint64(h.Sum(nil))%uint64(len(u.names))]]
	}
	if strings.HasPrefix(hash, "$argon2id$") {
		h, err := parseArgon(hash)
		return err == nil && h.matches(password) && ok
	}
	return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil && ok
}

// has reports whether there is a user of that name.
func (u *Users) has(name string) bool {
	if u.hashes[name] != "" {
		return true
	}
	for _, other := range u.tokens {
		if other == name {
			return true
		}
	}
	return false
}

// ofToken returns the user of a Bearer token.
func (u *Users) ofToken(token string) (name string, ok bool) {
	name, ok = u.tokens[sha256.Sum256([]byte(token))]
	return name, ok
}
