package script

import (
	"bytes"
	"errors"
	"io/fs"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// canary stands for what must not be in an error.
const canary = "hunter2"

// fakeFiles opens the files of a map.
func fakeFiles(files map[string]string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		content, ok := files[path]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
		return []byte(content), nil
	}
}

// equal compares results as a whole, with bodies that are nil or only empty
// told apart.
func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n got %+v\nwant %+v", what, got, want)
	}
}

// wantError checks an error's text, and that it keeps the canary.
func wantError(t *testing.T, in string, err error, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%q: no error, want %s", in, want)
	case err.Error() != want:
		t.Errorf("%q:\n got %v\nwant %s", in, err, want)
	case strings.Contains(err.Error(), canary):
		t.Errorf("%q: the error shows the secret: %v", in, err)
	}
}

// place is how every error of a file called f begins.
var place = regexp.MustCompile(`^f:([1-9][0-9]*):([1-9][0-9]*): .+: want .`)

// checkPlaced checks what holds for every error of a file called f: it has the
// form of errors, and its place is in the content.
func checkPlaced(t *testing.T, content []byte, err error) {
	t.Helper()
	m := place.FindStringSubmatch(err.Error())
	if m == nil {
		t.Fatalf("%q: %v: want FILE:LINE:COLUMN: what: want what", content, err)
	}
	line, _ := strconv.Atoi(m[1])
	column, _ := strconv.Atoi(m[2])
	if all := bytes.Split(content, []byte("\n")); line > len(all) || column > len(all[line-1])+1 {
		t.Fatalf("%q: %v: want a place in the file", content, err)
	}
}

// checkRequest checks what a request may be sent as, whatever the file said.
func checkRequest(t *testing.T, r Request) {
	t.Helper()
	if r.Method != "" && !isToken(r.Method) || r.URI == "" || !isUnbroken(r.URI) || !isUnbroken(r.Host) || r.Line < 1 {
		t.Fatalf("%+v: want a token, a URI and a line", r)
	}
	for _, f := range r.Header {
		if wrong := f.check(); wrong != "" {
			t.Fatalf("%+v: %s", r, wrong)
		}
	}
	switch r.Scheme {
	case "":
		if r.Host != "" {
			t.Fatalf("%+v: want a scheme with a host", r)
		}
	case "http", "https":
		if _, _, wrong := splitHost(r.Host); wrong != "" || !strings.HasPrefix(r.URI, "/") {
			t.Fatalf("%+v: want a server and a target in origin form", r)
		}
	default:
		t.Fatalf("%+v: want http or https", r)
	}
}

var errBroken = errors.New("disk on fire")
