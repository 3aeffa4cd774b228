package push

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Auth says who we are to the receiver. Every field may be left zero. Secrets
// come from files or the environment only, are read once, and are in no error.
type Auth struct {
	BasicUser    string // name for basic authentication
	PasswordFile string // of BasicUser; default the environment's HTTPGEN_PUSH_PASSWORD
	BearerFile   string // bearer token; default the environment's HTTPGEN_PUSH_TOKEN, unless there is a BasicUser
	HeaderFile   string // lines of NAME: VALUE that go with each request; empty lines and those with # are skipped
}

const (
	// maxSecretFile bounds a file of secrets in bytes.
	maxSecretFile = 16 << 10
	// minSecretValue is the least length in bytes of a header field's value that
	// is taken for a secret. A shorter one, such as the number of a tenant, is no
	// credential and would be found in any text.
	minSecretValue = 6
)

// ownFields are header fields that the protocols set.
var ownFields = []string{
	"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host", "Retry-Attempt", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "X-Prometheus-Remote-Write-Version",
}

// secrets are texts that no error may contain.
type secrets []string

// in says whether text contains a secret.
func (s secrets) in(text string) bool {
	return slices.ContainsFunc(s, func(secret string) bool { return strings.Contains(text, secret) })
}

// load reads the files and the environment. It returns the header fields of
// every request.
func (a *Auth) load(getenv func(string) string) (http.Header, secrets, error) {
	header := http.Header{}
	var hide secrets
	if a.HeaderFile != "" {
		content, err := readSecret("HeaderFile", a.HeaderFile)
		if err != nil {
			return nil, nil, err
		}
		if hide, err = addFields(header, a.HeaderFile, content); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case a.BasicUser != "" && a.BearerFile != "":
		return nil, nil, errors.New("push: BasicUser and BearerFile are both given: want one")
	case a.BasicUser == "" && a.PasswordFile != "":
		return nil, nil, errors.New("push: PasswordFile without BasicUser: want both")
	case strings.ContainsFunc(a.BasicUser, func(r rune) bool { return r == ':' || r < ' ' || r == 0x7f }):
		return nil, nil, fmt.Errorf("push: BasicUser %q: want a name without colons and control characters", a.BasicUser)
	}
	scheme, credentials, err := a.credentials(getenv)
	if err != nil || scheme == "" {
		return header, hide, err
	}
	if header.Get("Authorization") != "" {
		return nil, nil, fmt.Errorf("push: HeaderFile %q has the field Authorization: want it there, or a user or token, and not both", a.HeaderFile)
	}
	hide = append(hide, credentials)
	if scheme == "Basic" {
		encoded := base64.StdEncoding.EncodeToString([]byte(a.BasicUser + ":" + credentials))
		hide = append(hide, encoded)
		credentials = encoded
	}
	header.Set("Authorization", scheme+" "+credentials)
	return header, hide, nil
}

// credentials returns the password of BasicUser or the bearer token, if there
// is any.
func (a *Auth) credentials(getenv func(string) string) (scheme, secret string, err error) {
	scheme, field, file, env := "Bearer", "BearerFile", a.BearerFile, "HTTPGEN_PUSH_TOKEN"
	if a.BasicUser != "" {
		scheme, field, file, env = "Basic", "PasswordFile", a.PasswordFile, "HTTPGEN_PUSH_PASSWORD"
	}
	secret, from := getenv(env), "environment variable "+env
	if file != "" {
		content, err := readSecret(field, file)
		if err != nil {
			return "", "", err
		}
		secret, from = strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r"), fmt.Sprintf("%s %q", field, file)
	}
	switch {
	case secret == "" && file == "" && a.BasicUser == "":
		return "", "", nil
	case secret == "" && file == "":
		return "", "", fmt.Errorf("push: BasicUser %q has no password: want PasswordFile or %s", a.BasicUser, env)
	case secret == "", strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r == 0x7f }),
		scheme == "Bearer" && (strings.Contains(secret, " ") || !httpguts.ValidHeaderFieldValue(secret)):
		return "", "", fmt.Errorf("push: %s: want one line with the secret", from)
	}
	return scheme, secret, nil
}

// addFields adds the fields of a header file. Errors name the line and never
// quote it.
func addFields(header http.Header, file string, content []byte) (hide secrets, err error) {
	n := 0
	for line := range bytes.Lines(content) {
		n++
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, found := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		if !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("push: HeaderFile %q, line %d: want NAME: VALUE", file, n)
		}
		if slices.Contains(ownFields, http.CanonicalHeaderKey(name)) {
			return nil, fmt.Errorf("push: HeaderFile %q, line %d: want no field %s, it is set by itself", file, n, http.CanonicalHeaderKey(name))
		}
		header.Add(name, value)
		if len(value) >= minSecretValue {
			hide = append(hide, value)
		}
	}
	return hide, nil
}

// readSecret reads a small file.
func readSecret(field, name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("push: %s: %w", field, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return nil, fmt.Errorf("push: %s: %w", field, err)
	}
	if len(content) > maxSecretFile {
		return nil, fmt.Errorf("push: %s %q: want at most %d bytes", field, name, maxSecretFile)
	}
	return content, nil
}
