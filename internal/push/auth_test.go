package push

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
)

// secretFile writes a file and returns its name.
func secretFile(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAuth(t *testing.T) {
	t.Parallel()
	env := map[string]string{"HTTPGEN_PUSH_PASSWORD": "env password", "HTTPGEN_PUSH_TOKEN": "env-token"}
	for _, tt := range []struct {
		name string
		a    Auth
		env  map[string]string
		want string // Authorization
	}{
		{"none", Auth{}, nil, ""},
		{"password from a file", Auth{BasicUser: "me", PasswordFile: secretFile(t, "pa ss:\r\n")}, env, "Basic bWU6cGEgc3M6"},
		{"password from the environment", Auth{BasicUser: "me"}, env, "Basic bWU6ZW52IHBhc3N3b3Jk"},
		{"token from a file", Auth{BearerFile: secretFile(t, "t0ken\n")}, env, "Bearer t0ken"},
		{"token from the environment", Auth{}, env, "Bearer env-token"},
		{"in a header file", Auth{HeaderFile: secretFile(t, "# our\n\nauthorization: Special canary\n")}, nil, "Special canary"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			header, _, err := tt.a.load(func(name string) string { return tt.env[name] })
			if err != nil {
				t.Fatal(err)
			}
			if got := header.Get("Authorization"); got != tt.want {
				t.Errorf("Authorization %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAuthRefuses(t *testing.T) {
	t.Parallel()
	canary := secretFile(t, "canary")
	for _, tt := range []struct {
		name string
		a    Auth
		env  string // of every variable
		want string
	}{
		{"two ways", Auth{BasicUser: "me", PasswordFile: canary, BearerFile: canary}, "", "BasicUser and BearerFile are both given"},
		{"no user", Auth{PasswordFile: canary}, "", "PasswordFile without BasicUser"},
		{"colon", Auth{BasicUser: "a:b", PasswordFile: canary}, "", `BasicUser "a:b"`},
		{"no password", Auth{BasicUser: "me"}, "", "want PasswordFile or HTTPGEN_PUSH_PASSWORD"},
		{"no file", Auth{BearerFile: "/nowhere/at/all"}, "", "BearerFile: open /nowhere/at/all"},
		{"a folder", Auth{BearerFile: "/"}, "", "BearerFile: read /"},
		{"empty file", Auth{BearerFile: secretFile(t, "\n")}, "canary", "want one line with the secret"},
		{"two lines", Auth{BasicUser: "me", PasswordFile: secretFile(t, "canary\ncanary\n")}, "", "want one line with the secret"},
		{"blank in a token", Auth{}, "canary canary", "environment variable HTTPGEN_PUSH_TOKEN: want one line"},
		{"huge", Auth{BearerFile: secretFile(t, strings.Repeat("canary", 4000))}, "", "want at most 16384 bytes"},
		{"no colon in a header", Auth{HeaderFile: secretFile(t, "A: b\ncanary\n")}, "", "line 2: want NAME: VALUE"},
		{"bad header name", Auth{HeaderFile: secretFile(t, "can ary: canary")}, "", "line 1: want NAME: VALUE"},
		{"bad header value", Auth{HeaderFile: secretFile(t, "A: canary\x00")}, "", "line 1: want NAME: VALUE"},
		{"our header", Auth{HeaderFile: secretFile(t, "content-type: canary")}, "", "want no field Content-Type"},
		{"header and token", Auth{HeaderFile: secretFile(t, "Authorization: canary"), BearerFile: canary}, "", "has the field Authorization"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := tt.a.load(func(string) string { return tt.env })
			if err == nil || !strings.HasPrefix(err.Error(), "push: ") || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("got %v, want %q and no canary", err, tt.want)
			}
		})
	}
}

func FuzzHeaderFile(f *testing.F) {
	for _, s := range []string{"A: b\n", "# c\n\nX-Scope-OrgID: 1\r\nA:b", "no colon", ":", "A: \x00", "Host: x", "\xff: y"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		header := map[string][]string{}
		if _, err := addFields(header, "file", content); err != nil {
			return
		}
		for name, values := range header {
			for _, v := range values {
				if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(v) || v != strings.TrimSpace(v) {
					t.Errorf("field %q: %q of %q", name, v, content)
				}
			}
		}
	})
}
