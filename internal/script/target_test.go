package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

func TestParseTargets(t *testing.T) {
	t.Parallel()
	files := map[string]string{"dir/b.bin": "body\n", "dir/a b": "blank", "/abs": "absolute", "dir/empty": ""}
	for _, tt := range []struct {
		name string
		in   string
		want []Request
	}{
		{"one", "GET http://h:8080/a?b=c", []Request{{Method: "GET", URI: "/a?b=c", Host: "h:8080", Scheme: "http", Line: 1}}},
		{"several in a row", "GET http://h/1\nPOST http://h/2\r\nm-SEARCH \t /3\n", []Request{
			{Method: "GET", URI: "/1", Host: "h", Scheme: "http", Line: 1},
			{Method: "POST", URI: "/2", Host: "h", Scheme: "http", Line: 2},
			{Method: "m-SEARCH", URI: "/3", Line: 3},
		}},
		{"headers and body", "# c\n\nPUT https://h/\nContent-Type: a/b; c=d\n# c\nX-A:1\n  @b.bin\nX-B:\n\nGET /x\n", []Request{
			{Method: "PUT", URI: "/", Header: []Field{{"Content-Type", "a/b; c=d"}, {"X-A", "1"}, {"X-B", ""}}, Body: []byte("body\n"), Host: "h", Scheme: "https", Line: 3},
			{Method: "GET", URI: "/x", Line: 10},
		}},
		{"bodies", "POST /\n@a b\nPOST /\n@/abs\nPOST /\n@../dir/empty\n", []Request{
			{Method: "POST", URI: "/", Body: []byte("blank"), Line: 1}, {Method: "POST", URI: "/", Body: []byte("absolute"), Line: 3}, {Method: "POST", URI: "/", Body: []byte{}, Line: 5},
		}},
		{"plain lines", "/a\nhttps://H/b\nX: y\n\nHTTP://h\n", []Request{
			{Method: "GET", URI: "/a", Line: 1}, {Method: "GET", URI: "/b", Header: []Field{{"X", "y"}}, Host: "H", Scheme: "https", Line: 2}, {Method: "GET", URI: "/", Host: "h", Scheme: "http", Line: 5},
		}},
		{"query and fragment", "http://h?a#b\nhttp://h#b\n/c#d\nhttp://h/%zz?a=http://u@x/", []Request{
			{Method: "GET", URI: "/?a", Host: "h", Scheme: "http", Line: 1}, {Method: "GET", URI: "/", Host: "h", Scheme: "http", Line: 2}, {Method: "GET", URI: "/c", Line: 3},
			{Method: "GET", URI: "/%zz?a=http://u@x/", Host: "h", Scheme: "http", Line: 4},
		}},
		{"IPv6", "http://[::1]/\nhttp://[2001:db8::1]:65535", []Request{
			{Method: "GET", URI: "/", Host: "[::1]", Scheme: "http", Line: 1}, {Method: "GET", URI: "/", Host: "[2001:db8::1]:65535", Scheme: "http", Line: 2},
		}},
		{"byte order mark", "\xef\xbb\xbf/a", []Request{{Method: "GET", URI: "/a", Line: 1}}},
		{"JSON", "\n {\"method\":\"POST\",\"url\":\"http://h/a\",\"body\":\"AGJvZHk=\",\"header\":{\"X-B\":[\"1\",\" 2 \"],\"X-A\":[\"3\"]}}\r\n\n{\"url\":\"/b\",\"method\":\"GET\"}\n", []Request{
			{Method: "POST", URI: "/a", Header: []Field{{"X-A", "3"}, {"X-B", "1"}, {"X-B", "2"}}, Body: []byte("\x00body"), Host: "h", Scheme: "http", Line: 2},
			{Method: "GET", URI: "/b", Line: 4},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseTargets("dir/t", []byte(tt.in), fakeFiles(files))
			if err != nil {
				t.Fatalf("ParseTargets(%q): %v", tt.in, err)
			}
			equal(t, fmt.Sprintf("ParseTargets(%q)", tt.in), got, tt.want)
		})
	}
}

func TestParseTargetsErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   string
		want string
	}{
		{"empty", "", "f:1:1: no target: want METHOD URL a line"},
		{"comments alone", "# x\n\n", "f:1:1: no target: want METHOD URL a line"},
		{"method alone", "GET\n", "f:1:1: line of no known kind: want METHOD URL, a URL, Name: value or @FILE"},
		{"text", "\"" + canary, "f:1:1: line of no known kind: want METHOD URL, a URL, Name: value or @FILE"},
		{"NUL", "/a\n\x00", "f:2:1: line of no known kind: want METHOD URL, a URL, Name: value or @FILE"},
		{"header first", "X: " + canary, "f:1:1: header line without a target: want METHOD URL before it"},
		{"header after a blank line", "/a\n\n  X: " + canary, "f:3:3: header line without a target: want METHOD URL before it"},
		{"body first", "@b", "f:1:1: body file without a target: want METHOD URL before it"},
		{"two bodies", "/a\n@b\n@b", "f:3:1: second body file of a target: want one"},
		{"no file", "/a\n@", "f:2:1: body file without a name: want @FILE"},
		{"missing file", "/a\n@no", `f:2:1: body file "no": open no: file does not exist: want a file that can be read`},
		{"blank before a colon", "/a\nX : " + canary, "f:2:3: URL that is neither absolute nor a path: want http://, https:// or / at its start"},
		{"broken header", "/a\nX: a\nBearer " + canary, "f:3:8: URL that is neither absolute nor a path: want http://, https:// or / at its start"},
		{"header value", "/a\nX: " + canary + "\x01", "f:2:1: header value with a control character: want none but HTAB"},
		{"another scheme", "GET ftp://h/", "f:1:5: URL of another scheme: want http:// or https://"},
		{"another scheme alone", "/a\nftp://h/", "f:2:1: URL of another scheme: want http:// or https://"},
		{"relative", "GET a/b", "f:1:5: URL that is neither absolute nor a path: want http://, https:// or / at its start"},
		{"user information", "GET http://u:" + canary + "@h/", "f:1:5: URL with user information: want a header such as Authorization instead"},
		{"user", "http://" + canary + "@h/", "f:1:1: URL with user information: want a header such as Authorization instead"},
		{"slash in a password", "http://u:" + canary + "/x@h/", "f:1:1: URL whose server has a port that is none: want a number from 1 to 65535"},
		{"no host", "GET http://:80", "f:1:5: URL whose server has a host that is no name or address: want letters, digits, dots and hyphens"},
		{"host", "GET http://h\\a/", "f:1:5: URL whose server has a host that is no name or address: want letters, digits, dots and hyphens"},
		{"port", "GET http://h:65536/", "f:1:5: URL whose server has a port that is none: want a number from 1 to 65535"},
		{"empty port", "GET http://h:/", "f:1:5: URL whose server has a port that is none: want a number from 1 to 65535"},
		{"signed port", "GET http://h:+1/", "f:1:5: URL whose server has a port that is none: want a number from 1 to 65535"},
		{"brackets", "GET http://[127.0.0.1]/", "f:1:5: URL whose server has a host in brackets that is no IPv6 address: want one such as [::1]"},
		{"open bracket", "GET http://[::1/", "f:1:5: URL whose server has a host in brackets that is no IPv6 address: want one such as [::1]"},
		{"after brackets", "GET http://[::1]80/", "f:1:5: URL whose server has a port that is none: want a number from 1 to 65535"},
		{"zone", "GET http://[fe80::1%25eth0]/", "f:1:5: URL with the zone of an address: want the address alone"},
		{"third word", "GET http://h/a b", "f:1:5: URI with blanks or control characters: want them percent-encoded"},
		{"control in a path", "/a\x00", "f:1:1: URI with blanks or control characters: want them percent-encoded"},
		{"JSON cut", `{"method":"` + canary, "f:1:19: end before a JSON value is complete: want the rest of it"},
		{"JSON syntax", "{}\n", "f:1:1: method that is no token: want one such as GET"},
		{"JSON on two lines", "{\"method\":\n\"GET\"}", "f:1:11: end before a JSON value is complete: want the rest of it"},
		{"JSON and text", `{"method":"GET","url":"/"} x`, "f:1:28: text after a JSON value: want nothing more"},
		{"JSON character", `{"method":"GET","url":/}`, "f:1:23: malformed JSON: want a JSON object"},
		{"JSON, then text", "{\"method\":\"GET\",\"url\":\"/\"}\n  GET /", "f:2:3: malformed JSON: want a JSON object"},
		{"JSON, then number", "{\"method\":\"GET\",\"url\":\"/\"}\n12345", "f:2:5: JSON number: want an object"},
		{"JSON key", `{"method":"GET","url":"/","headers":{"X":["` + canary + `"]}}`, `f:1:1: unknown field "headers": want what the format has`},
		{"JSON method", `{"method":"G@T","url":"/"}`, "f:1:1: method that is no token: want one such as GET"},
		{"JSON URL", `{"method":"GET"}`, "f:1:1: URL that is neither absolute nor a path: want http://, https:// or / at its start"},
		{"JSON user information", `{"method":"GET","url":"http://` + canary + `@h/"}`, "f:1:1: URL with user information: want a header such as Authorization instead"},
		{"JSON body", `{"method":"GET","url":"/","body":"` + canary + `!"}`, "f:1:1: body that is no base64: want it encoded so"},
		{"JSON number as body", `{"method":"GET","url":"/","body":123456}`, "f:1:39: JSON number for body: want a string"},
		{"JSON header name", `{"method":"GET","url":"/","header":{"` + canary + `:":["x"]}}`, "f:1:1: header name that is no token: want one such as Accept"},
		{"JSON header value", `{"method":"GET","url":"/","header":{"X":["` + canary + `\n"]}}`, "f:1:1: header value with a control character: want none but HTAB"},
		{"JSON header of a string", `{"method":"GET","url":"/","header":{"X":"` + canary + `"}}`, "f:1:49: JSON string for header: want an array"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			open := fakeFiles(map[string]string{"b": ""})
			got, err := ParseTargets("f", []byte(tt.in), open)
			if got != nil {
				t.Errorf("ParseTargets(%q) = %+v, want none", tt.in, got)
			}
			wantError(t, tt.in, err, tt.want)
		})
	}
}

// formatTargets writes targets without bodies in the text format.
func formatTargets(requests []Request) []byte {
	var b bytes.Buffer
	for _, r := range requests {
		url := r.URI
		if r.Scheme != "" {
			url = r.Scheme + "://" + r.Host + r.URI
		}
		fmt.Fprintf(&b, "%s %s\n", r.Method, url)
		for _, f := range r.Header {
			fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
		}
	}
	return b.Bytes()
}

// formatJSONTargets writes targets in the JSON format.
func formatJSONTargets(t *testing.T, requests []Request) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, r := range requests {
		url := r.URI
		if r.Scheme != "" {
			url = r.Scheme + "://" + r.Host + r.URI
		}
		header := map[string][]string{}
		for _, f := range r.Header {
			header[f.Name] = append(header[f.Name], f.Value)
		}
		line, err := json.Marshal(map[string]any{"method": r.Method, "url": url, "body": r.Body, "header": header})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// What was read is what is read again after it was written, in the format that
// can say all of it.
func FuzzParseTargets(f *testing.F) {
	for _, s := range []string{
		"GET http://h/a?b#c\nX: y\n@f\n\n# c\n/b\r\nhttps://[::1]:80\n", "POST / x", "http://u:p@h/", "ftp://h\n", "X: y", "@",
		`{"method":"POST","url":"http://h/a","body":"Ym9keQ==","header":{"X":["1","2"],"A":[""]}}` + "\n{\"method\":1}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := ParseTargets("f", in, func(path string) ([]byte, error) { return []byte(path), nil })
		if err != nil {
			checkPlaced(t, in, err)
			return
		}
		for i := range got {
			checkRequest(t, got[i])
			got[i].Line = 0
		}
		noBody := make([]Request, len(got))
		for i, r := range got {
			r.Body = nil
			noBody[i] = r
		}
		again, err := ParseTargets("f", formatTargets(noBody), nil)
		if err != nil {
			t.Fatalf("%q: written as %q: %v", in, formatTargets(noBody), err)
		}
		for i := range again {
			again[i].Line = 0
		}
		if !reflect.DeepEqual(again, noBody) {
			t.Fatalf("%q: written as %q:\n got %+v\nwant %+v", in, formatTargets(noBody), again, noBody)
		}
		again, err = ParseTargets("f", formatJSONTargets(t, got), nil)
		if err != nil || len(again) != len(got) {
			t.Fatalf("%q: written as %q: %d targets, %v", in, formatJSONTargets(t, got), len(again), err)
		}
		for i := range again {
			if again[i].Method != got[i].Method || !bytes.Equal(again[i].Body, got[i].Body) || again[i].Host != got[i].Host {
				t.Fatalf("%q: as JSON\n got %+v\nwant %+v", in, again[i], got[i])
			}
		}
	})
}
