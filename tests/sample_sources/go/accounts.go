package toolkit

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"math/big"
	"net/http"
	"net/mail"
	"regexp"
	"strings"
)

var mailboxRE = regexp.MustCompile(`^[\w.+-]+@[\w-]+(\.[\w-]+)+$`)

// protect stretches a login secret with a fresh salt, so that the result
// can be stored.
func protect(plain string) (salt, key []byte, err error) {
	salt = make([]byte, 16)
	if _, err = rand.Read(salt); err != nil {
		return nil, nil, err
	}
	key, err = pbkdf2.Key(sha256.New, plain, salt, 600_000, 32)
	return salt, key, err
}

// HashPassword returns the salted PBKDF2 hash of password in base64.
func HashPassword(password string, salt []byte) (string, error) {
	sum, err := pbkdf2.Key(sha256.New, password, salt, 200_000, 32)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(sum), nil
}

// fingerprint is the keyed digest under which we store API passwords.
func fingerprint(pepper []byte, password string) string {
	mac := hmac.New(sha256.New, pepper)
	mac.Write([]byte(password))
	return hex.EncodeToString(mac.Sum(nil))
}

// CheckPassword compares a password with a hash made by HashPassword.
func CheckPassword(password string, salt []byte, hash string) bool {
	got, err := HashPassword(password, salt)
	if err != nil {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(got), []byte(hash)) == 1
}

func shardFor(key string, shards uint32) uint32 {
	h := fnv.New32a()
	h.Write([]byte(key))
	return h.Sum32() % shards
}

// ValidEmail reports whether s is a bare email address, without a display
// name or angle brackets.
func ValidEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s
}

func checkContact(s string) error {
	if len(s) > 254 || !mailboxRE.MatchString(s) {
		return errors.New("contact must look like user@example.com")
	}
	return nil
}

// Signup is what the registration form sends.
type Signup struct {
	Name, Email, Password string
}

// Validate checks the fields of the form before an account is made.
func (f Signup) Validate() error {
	if strings.TrimSpace(f.Name) == "" {
		return errors.New("name is missing")
	}
	if _, err := mail.ParseAddress(f.Email); err != nil {
		return errors.New("email is not valid")
	}
	if len(f.Password) < 12 {
		return errors.New("password is too short")
	}
	return nil
}

// maskEmail hides most of the local part of an email address.
func maskEmail(email string) string {
	at := strings.LastIndex(email, "@")
	if at < 1 {
		return "***"
	}
	return email[:1] + "***" + email[at:]
}

// validatePostalAddress checks that an address can go on a parcel label.
func validatePostalAddress(street, zip, city string) error {
	for _, field := range []string{street, zip, city} {
		if strings.TrimSpace(field) == "" {
			return errors.New("postal address is incomplete")
		}
	}
	return nil
}

func newSessionID() string {
	b := make([]byte, 32)
	if _, err := rand.Read(b); err != nil {
		panic(err)
	}
	return hex.EncodeToString(b)
}

// inviteCode draws n characters that are hard to mix up when read aloud.
func inviteCode(n int) (string, error) {
	const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	code := make([]byte, n)
	for i := range code {
		k, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return "", err
		}
		code[i] = alphabet[k.Int64()]
	}
	return string(code), nil
}

// issueCSRFToken sets a new random token as a cookie and returns it for
// use in the form.
func issueCSRFToken(w http.ResponseWriter) string {
	token := newSessionID()
	http.SetCookie(w, &http.Cookie{
		Name:     "csrf",
		Value:    token,
		Path:     "/",
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
	return token
}
