package script

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// archive is an archive with these entries.
func archive(entries ...string) string {
	return "{\"log\": {\"version\": \"1.2\", \"entries\": [\n" + strings.Join(entries, ",\n") + "\n]}}"
}

// entry is an entry of an archive; request is what its request has beside a
// method and a URL.
func entry(started, method, url, request string) string {
	if request != "" {
		request = ", " + request
	}
	return fmt.Sprintf(`{"startedDateTime": %q, "time": 5, "request": {"method": %q, "url": %q%s}, "response": {"status": 200}}`, started, method, url, request)
}

func TestParseHAR(t *testing.T) {
	t.Parallel()
	const noon = "2026-01-31T12:00:00Z"
	for _, tt := range []struct {
		name    string
		in      string
		want    []Entry
		skipped map[string]int
	}{
		{"one", archive(entry(noon, "GET", "https://h:8443/a?b#c", "")), []Entry{{Request: Request{Method: "GET", URI: "/a?b", Host: "h:8443", Scheme: "https", Line: 1}}}, map[string]int{}},
		{"order", "\xef\xbb\xbf" + archive(
			entry("2026-01-31T12:00:01.250Z", "GET", "http://h/1", ""),
			entry("2026-01-31T13:00:00+01:00", "GET", "http://h/2", ""),
			entry("2026-01-31T12:00:01.25Z", "GET", "http://h/3", ""),
			entry("2026-01-31T12:00:00.5Z", "GET", "http://h/4", ""),
		), []Entry{
			{Request{Method: "GET", URI: "/2", Host: "h", Scheme: "http", Line: 2}, 0},
			{Request{Method: "GET", URI: "/4", Host: "h", Scheme: "http", Line: 4}, 500 * time.Millisecond},
			{Request{Method: "GET", URI: "/1", Host: "h", Scheme: "http", Line: 1}, 1250 * time.Millisecond},
			{Request{Method: "GET", URI: "/3", Host: "h", Scheme: "http", Line: 3}, 1250 * time.Millisecond},
		}, map[string]int{}},
		{"skipped", archive(
			entry("1999-01-31T12:00:00Z", "GET", "data:text/plain,x", ""), entry("", "GET", "WSS://h/", ""), entry(noon, "GET", "http://h", ""), entry(noon, "GET", "wss://h/", ""), `{"request": {"url": "about:blank"}}`,
		), []Entry{{Request: Request{Method: "GET", URI: "/", Host: "h", Scheme: "http", Line: 3}}}, map[string]int{"data": 1, "wss": 2, "about": 1}},
		{"header", archive(entry(noon, "GET", "http://h/", `"headers": [
			{"name": ":authority", "value": "h"}, {"name": "Host", "value": "h"}, {"name": "content-length", "value": "3"}, {"name": "Connection", "value": "keep-alive"},
			{"name": "Transfer-Encoding", "value": "chunked"}, {"name": "Proxy-Connection", "value": "x"}, {"name": "proxy-authorization", "value": "x"},
			{"name": "Keep-Alive", "value": "x"}, {"name": "TE", "value": "x"}, {"name": "Upgrade", "value": "x"},
			{"name": "Accept-Encoding", "value": "gzip, br"}, {"name": "cookie", "value": " a=b; c=é "}, {"name": "X-Empty", "value": "", "comment": "x"}]`)),
			[]Entry{{Request: Request{Method: "GET", URI: "/", Header: []Field{{"Accept-Encoding", "gzip, br"}, {"cookie", "a=b; c=é"}, {"X-Empty", ""}}, Host: "h", Scheme: "http", Line: 1}}}, map[string]int{}},
		{"bodies", archive(
			entry(noon, "POST", "http://h/1", `"postData": {"mimeType": "a/b", "text": "a=\u0000\"b", "params": [{"name": "x", "value": "y"}]}`),
			entry(noon, "POST", "http://h/2", `"postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "b c", "value": "&="}, {"name": "a"}]}`),
			entry(noon, "POST", "http://h/3", `"postData": {"text": "", "params": []}`),
			entry(noon, "POST", "http://h/4", `"postData": null, "headers": null`),
			entry(noon, "POST", "http://h/5", `"postData": {"mimeType": "multipart/form-data; boundary=x", "text": "--x--", "params": [{"name": "x"}]}`),
		), []Entry{
			{Request: Request{Method: "POST", URI: "/1", Body: []byte("a=\x00\"b"), Host: "h", Scheme: "http", Line: 1}},
			{Request: Request{Method: "POST", URI: "/2", Body: []byte("b+c=%26%3D&a="), Host: "h", Scheme: "http", Line: 2}},
			{Request: Request{Method: "POST", URI: "/3", Host: "h", Scheme: "http", Line: 3}},
			{Request: Request{Method: "POST", URI: "/4", Host: "h", Scheme: "http", Line: 4}},
			{Request: Request{Method: "POST", URI: "/5", Body: []byte("--x--"), Host: "h", Scheme: "http", Line: 5}},
		}, map[string]int{}},
		{"other keys first", `{"entries": [1], "log": {"pages": [{"entries": [2]}], "log": {}, "entries": [` + entry(noon, "GET", "http://h/", "") + `], "z": 1}}`,
			[]Entry{{Request: Request{Method: "GET", URI: "/", Host: "h", Scheme: "http", Line: 1}}}, map[string]int{}},
		{"far apart", archive(entry("0001-01-01T00:00:00Z", "GET", "http://h/1", ""), entry("9999-01-01T00:00:00Z", "GET", "http://h/2", "")), []Entry{
			{Request{Method: "GET", URI: "/1", Host: "h", Scheme: "http", Line: 1}, 0}, {Request{Method: "GET", URI: "/2", Host: "h", Scheme: "http", Line: 2}, 1<<63 - 1},
		}, map[string]int{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, skipped, err := ParseHAR("f", []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "entries", got, tt.want)
			equal(t, "skipped", skipped, tt.skipped)
		})
	}
}

func TestParseHARErrors(t *testing.T) {
	t.Parallel()
	const noon = "2026-01-31T12:00:00Z"
	good := entry(noon, "GET", "http://h/", "")
	for _, tt := range []struct {
		name string
		in   string
		want string
	}{
		{"empty", "", "f:1:1: end before a JSON value is complete: want the rest of it"},
		{"blank", " \n", "f:2:1: end before a JSON value is complete: want the rest of it"},
		{"array", "[]", "f:1:1: JSON array: want an object"},
		{"cut", archive(good, `{"request": {"postData": {"text": "`+canary), "f:3:43: malformed JSON: want a JSON object"},
		{"cut at the end", "{\"log\":\n{\"" + canary, "f:2:10: end before a JSON value is complete: want the rest of it"},
		{"character", "{\"log\": {\n  \"entries\": [}", "f:2:15: malformed JSON: want a JSON object"},
		{"text after it", "{}\n x", "f:2:2: text after a JSON value: want nothing more"},
		{"no log", "{}", "f:1:1: no entries: want an HTTP archive, with an array log.entries"},
		{"log is none", `{"log": 1}`, "f:1:1: no entries: want an HTTP archive, with an array log.entries"},
		{"no entries", `{"log": {"pages": []}}`, "f:1:1: no entries: want an HTTP archive, with an array log.entries"},
		{"entries are none", `{"log": {"entries": {}}}`, "f:1:1: no entries: want an HTTP archive, with an array log.entries"},
		{"empty entries", archive(), "f:1:1: no http or https entry: want at least one"},
		{"all skipped", archive(entry(noon, "GET", "data:,"+canary, "")), "f:1:1: no http or https entry: want at least one"},
		{"entry is none", archive(good, "  123456"), "f:3:8: entry 2: JSON number: want an object"},
		{"header is a number", archive(good, `{"request": {"headers": [{"name": "X", "value": 123456}]}}`), "f:3:54: entry 2: JSON number for request.headers.value: want a string"},
		{"headers are none", archive(`{"request": {"headers": "` + canary + `"}}`), "f:2:33: entry 1: JSON string for request.headers: want an array"},
		{"request is none", archive(`{"request": "` + canary + `"}`), "f:2:21: entry 1: JSON string for request: want an object"},
		{"no method", archive(good, `  {"request": {"url": "http://h/"}}`), "f:3:3: entry 2: method that is no token: want one such as GET"},
		{"no URL", archive(`{"request": {"method": "GET"}}`), "f:2:1: entry 1: URL of another scheme: want http:// or https://"},
		{"no scheme", archive(entry(noon, "GET", "/a:b", "")), "f:2:1: entry 1: URL of another scheme: want http:// or https://"},
		{"user information", archive(entry(noon, "GET", "http://u:"+canary+"@h/", "")), "f:2:1: entry 1: URL with user information: want a header such as Authorization instead"},
		{"blank in a URL", archive(entry(noon, "GET", "http://h/a b", "")), "f:2:1: entry 1: URI with blanks or control characters: want them percent-encoded"},
		{"no date", archive(entry("", "GET", "http://h/", "")), "f:2:1: entry 1: startedDateTime that is none: want one such as 2026-01-31T12:00:00.000Z"},
		{"date", archive(good, good, entry("yesterday", "GET", "http://h/", "")), "f:4:1: entry 3: startedDateTime that is none: want one such as 2026-01-31T12:00:00.000Z"},
		{"header name", archive(entry(noon, "GET", "http://h/", `"headers": [{"name": "`+canary+` x", "value": "y"}]`)), "f:2:1: entry 1: header name that is no token: want one such as Accept"},
		{"header value", archive(entry(noon, "GET", "http://h/", `"headers": [{"name": "X", "value": "`+canary+`\n"}]`)), "f:2:1: entry 1: header value with a control character: want none but HTAB"},
		{"multipart", archive(entry(noon, "POST", "http://h/", `"postData": {"mimeType": "Multipart/Form-Data; boundary=x", "params": [{"name": "x", "value": "`+canary+`"}]}`)), "f:2:1: entry 1: multipart body without its text: want postData.text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, skipped, err := ParseHAR("f", []byte(tt.in))
			if got != nil || skipped != nil {
				t.Errorf("ParseHAR = %+v, %v, want none", got, skipped)
			}
			wantError(t, tt.in, err, tt.want)
		})
	}
}

// What was read is what is read again after it was written.
func FuzzParseHAR(f *testing.F) {
	for _, s := range []string{
		archive(entry("2026-01-31T12:00:00.5+01:00", "POST", "https://h:1/a?b#c", `"headers": [{"name": ":path", "value": "/"}, {"name": "X", "value": "y"}], "postData": {"text": "x"}`), entry("2025-01-31T12:00:00Z", "GET", "http://[::1]", "")),
		archive(entry("2026-01-31T12:00:00Z", "POST", "http://h", `"postData": {"params": [{"name": "a b", "value": "é"}]}`), entry("", "", "ws://x", "")),
		`{"log": {"entries": [1]}}`, `{"log": [`, "{}x",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, skipped, err := ParseHAR("f", in)
		if err != nil {
			checkPlaced(t, in, err)
			return
		}
		for scheme, n := range skipped {
			if n < 1 || !isScheme(scheme) || scheme != strings.ToLower(scheme) {
				t.Fatalf("%q: skipped %q %d times", in, scheme, n)
			}
		}
		lines := map[int]bool{}
		entries := make([]string, len(got))
		for i, e := range got {
			checkRequest(t, e.Request)
			if lines[e.Line] || e.Start < 0 || i == 0 && e.Start != 0 || i > 0 && e.Start < got[i-1].Start {
				t.Fatalf("%q: %+v: want entries in order", in, got)
			}
			lines[e.Line] = true
			headers := []harField{}
			for _, f := range e.Header {
				headers = append(headers, harField(f))
			}
			text, err := json.Marshal(map[string]any{
				"startedDateTime": time.Unix(0, 0).UTC().Add(e.Start).Format(time.RFC3339Nano),
				"request":         map[string]any{"method": e.Method, "url": e.Scheme + "://" + e.Host + e.URI, "headers": headers, "postData": map[string]any{"text": string(e.Body)}},
			})
			if err != nil {
				t.Fatal(err)
			}
			entries[i] = string(text)
			got[i].Line = i + 1
		}
		again, skipped, err := ParseHAR("f", []byte(archive(entries...)))
		if err != nil || len(skipped) > 0 {
			t.Fatalf("%q: written as %q: %v", in, archive(entries...), err)
		}
		equal(t, fmt.Sprintf("%q", in), again, got)
	})
}
