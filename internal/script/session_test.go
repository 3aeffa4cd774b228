package script

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// one is a session with one burst of one request.
func one(r Request) []Session {
	return []Session{{[]Burst{{Requests: []Request{r}}}}}
}

func TestParseSessions(t *testing.T) {
	t.Parallel()
	files := map[string]string{"dir/b.bin": "\x00\nbody", "dir/a b": "blank", "/abs": "absolute", "dir/empty": ""}
	for _, tt := range []struct {
		name string
		in   string
		want []Session
	}{
		{"one request", "/a", one(Request{URI: "/a", Line: 1})},
		{"two sessions", "# comment\n/a think=2.0\n\t/b.gif\n  /c.gif\n/d method=POST contents='Post data'\n\n \t\n#\n/e\n", []Session{
			{[]Burst{
				{Requests: []Request{{URI: "/a", Line: 2}, {URI: "/b.gif", Line: 3}, {URI: "/c.gif", Line: 4}}, Think: 2 * time.Second, HasThink: true},
				{Requests: []Request{{Method: "POST", URI: "/d", Body: []byte("Post data"), Line: 5}}},
			}},
			{[]Burst{{Requests: []Request{{URI: "/e", Line: 9}}}}},
		}},
		{"CRLF", "/a think=1\r\n\r\n/b contents='x'\r\n /c contents=\"a\\\r\nb\" \\\r\n method=PUT\r\n", []Session{
			{[]Burst{{Requests: []Request{{URI: "/a", Line: 1}}, Think: time.Second, HasThink: true}}},
			{[]Burst{{Requests: []Request{{URI: "/b", Body: []byte("x"), Line: 3}, {Method: "PUT", URI: "/c", Body: []byte("a\nb"), Line: 4}}}}},
		}},
		{"byte order mark", "\xef\xbb\xbf#\n/a", one(Request{URI: "/a", Line: 2})},
		{"comment in a burst", "/a\n# x\n /b", []Session{{[]Burst{{Requests: []Request{{URI: "/a", Line: 1}, {URI: "/b", Line: 3}}}}}}},
		{"indented number sign", "/a\n #b", []Session{{[]Burst{{Requests: []Request{{URI: "/a", Line: 1}, {URI: "#b", Line: 2}}}}}}},
		{"URI as it is", `http://h/%zz?a="b'\c#é`, one(Request{URI: `http://h/%zz?a="b'\c#é`, Line: 1})},
		{"last think time of a burst", "/a think=1\n /b think=200ms\n/c think=.5\n/d think=0\n/e think=1.5s\n/f think=0.1", []Session{{[]Burst{
			{Requests: []Request{{URI: "/a", Line: 1}, {URI: "/b", Line: 2}}, Think: 200 * time.Millisecond, HasThink: true},
			{Requests: []Request{{URI: "/c", Line: 3}}, Think: 500 * time.Millisecond, HasThink: true},
			{Requests: []Request{{URI: "/d", Line: 4}}, HasThink: true},
			{Requests: []Request{{URI: "/e", Line: 5}}, Think: 1500 * time.Millisecond, HasThink: true},
			{Requests: []Request{{URI: "/f", Line: 6}}, Think: 100 * time.Millisecond, HasThink: true},
		}}}},
		{"any method, in any place", "/a contents=x method=m-SEARCH think=1\n", []Session{{[]Burst{
			{Requests: []Request{{Method: "m-SEARCH", URI: "/a", Body: []byte("x"), Line: 1}}, Think: time.Second, HasThink: true},
		}}}},

		// The bodies here were seen on the wire from httperf 0.9.0.
		{"other escapes", `/a contents='x\qy\'z\"'`, one(Request{URI: "/a", Body: []byte(`xqy'z"`), Line: 1})},
		{"continued text", "/a contents=\"one\\\n  two\\ttab\"", one(Request{URI: "/a", Body: []byte("one\n  two\ttab"), Line: 1})},
		{"quotes inside", `/a contents=a"b c"d`, one(Request{URI: "/a", Body: []byte("ab cd"), Line: 1})},
		{"backslash", `/a contents='it\\s'`, one(Request{URI: "/a", Body: []byte(`it\s`), Line: 1})},
		{"bare escape", `/a contents=bare\nx think=0`, []Session{{[]Burst{{Requests: []Request{{URI: "/a", Body: []byte("bare\nx"), Line: 1}}, HasThink: true}}}}},
		{"no blank after a quote", `/a contents='x'think=0`, one(Request{URI: "/a", Body: []byte("xthink=0"), Line: 1})},
		{"continued bare text", "/a contents=abc\\\ndef\n /b contents=abc\\\n", []Session{{[]Burst{{Requests: []Request{
			{URI: "/a", Body: []byte("abc\ndef"), Line: 1}, {URI: "/b", Body: []byte("abc\n"), Line: 3},
		}}}}}},

		{"the other quote", `/a contents="it's" headers='A: "b"'`, one(Request{URI: "/a", Header: []Field{{"A", `"b"`}}, Body: []byte("it's"), Line: 1})},
		{"empty text", "/a contents=\n /b contents=''\n /c body= method=PUT", []Session{{[]Burst{{Requests: []Request{
			{URI: "/a", Body: []byte{}, Line: 1}, {URI: "/b", Body: []byte{}, Line: 2}, {Method: "PUT", URI: "/c", Body: []byte{}, Line: 3},
		}}}}}},
		{"any byte", "/a contents='\x00\x01\xff\r'", one(Request{URI: "/a", Body: []byte("\x00\x01\xff\r"), Line: 1})},
		{"continued line", "/a\\\nb \\\n\t\\\n  method=\\\nPUT think=1\\\n0\n/c", []Session{{[]Burst{
			{Requests: []Request{{Method: "PUT", URI: "/ab", Line: 1}}, Think: 10 * time.Second, HasThink: true},
			{Requests: []Request{{URI: "/c", Line: 7}}},
		}}}},
		{"headers", `/a headers="Accept: */*\nX-A:  b c \r\nX-B:\n" headers=Y:\ 1`, one(Request{URI: "/a", Header: []Field{{"Accept", "*/*"}, {"X-A", "b c"}, {"X-B", ""}, {"Y", "1"}}, Line: 1})},
		{"headers on lines", "/a headers='A: 1\\\nB: 2'", one(Request{URI: "/a", Header: []Field{{"A", "1"}, {"B", "2"}}, Line: 1})},
		{"no headers", "/a headers=''", one(Request{URI: "/a", Line: 1})},
		{"body text", `/a body="a \"b\"" think=0`, []Session{{[]Burst{{Requests: []Request{{URI: "/a", Body: []byte(`a "b"`), Line: 1}}, HasThink: true}}}}},
		{"body text with an at sign", `/a body='@b.bin'`, one(Request{URI: "/a", Body: []byte("@b.bin"), Line: 1})},
		{"contents with an at sign", `/a contents=@b.bin`, one(Request{URI: "/a", Body: []byte("@b.bin"), Line: 1})},
		{"body files", "/a body=@b.bin\n /b body=@'a b'\n /c body=@/abs\n /d body=@../dir/empty method=PUT", []Session{{[]Burst{{Requests: []Request{
			{URI: "/a", Body: []byte("\x00\nbody"), Line: 1}, {URI: "/b", Body: []byte("blank"), Line: 2},
			{URI: "/c", Body: []byte("absolute"), Line: 3}, {Method: "PUT", URI: "/d", Body: []byte{}, Line: 4},
		}}}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseSessions("dir/s.log", []byte(tt.in), fakeFiles(files))
			if err != nil {
				t.Fatalf("ParseSessions(%q): %v", tt.in, err)
			}
			equal(t, fmt.Sprintf("ParseSessions(%q)", tt.in), got, tt.want)
		})
	}
}

func TestParseSessionsErrors(t *testing.T) {
	t.Parallel()
	const known = "want method=, think=, contents=, body= or headers=, and quotes around a text with blanks"
	const noThink = "think time that is none: want a number of seconds or a duration such as 200ms, 0 or more"
	for _, tt := range []struct {
		name string
		in   string
		want string
	}{
		{"empty", "", "f:1:1: no session: want a URI a line, and a blank line between sessions"},
		{"comments alone", "# x\n\n", "f:1:1: no session: want a URI a line, and a blank line between sessions"},
		{"indented first line", "# x\n  /a", "f:2:3: indented line at the start of a session: want a line that begins a burst"},
		{"indented after a blank line", "/a\n\n\t/b", "f:3:2: indented line at the start of a session: want a line that begins a burst"},
		{"NUL in a URI", "/a\n/b\x00c", "f:2:1: URI with a control character: want none"},
		{"DEL in a URI", "/a\x7f", "f:1:1: URI with a control character: want none"},
		{"CR in a URI", "/a\rb", "f:1:1: URI with a control character: want none"},
		{"nothing continued", "\\\n", "f:2:1: continued line with nothing in it: want a URI"},
		{"unknown parameter", "/a  foo=bar", `f:1:5: unknown parameter "foo=": ` + known},
		{"unknown word", "/a foo", "f:1:4: unknown parameter: " + known},
		{"long unknown parameter", "/a " + strings.Repeat("x", 17) + "=", "f:1:4: unknown parameter: " + known},
		{"on a continued line, with a name", "/a \\\n  thi\\\nk=1", `f:2:3: unknown parameter "thik=": ` + known},
		{"rest of a text on the next line", "/a contents={\"user\":\"u\",\n  \"password\": \"" + canary + "\"}", "f:2:15: unknown parameter: " + known},
		{"case", "/a Method=GET", "f:1:4: unknown parameter: " + known},
		{"stray backslash", `/a \ think=0`, "f:1:4: unknown parameter: " + known},
		{"number sign on a continued line", "/a \\\n#\\\nb contents=x", "f:2:1: unknown parameter: " + known},
		{"on a continued line", "/a \\\n  foo", "f:2:3: unknown parameter: " + known},
		{"empty method", "/a method= think=0", "f:1:4: method that is no token: want one such as GET"},
		{"method that is no token", "/a method=G@T", "f:1:4: method that is no token: want one such as GET"},
		{"two methods", "/a method=GET method=GET", "f:1:15: second method of a request: want one"},
		{"no think time", "/a think=", "f:1:4: " + noThink},
		{"think time of text", "/a think=soon", "f:1:4: " + noThink},
		{"negative think time", "/a think=-1", "f:1:4: " + noThink},
		{"think time with an exponent", "/a think=1e3", "f:1:4: " + noThink},
		{"think time of two units", "/a think=1m3", "f:1:4: " + noThink},
		{"too long a think time", "/a think=9999999999", "f:1:4: " + noThink},
		{"no number", "/a think=.", "f:1:4: " + noThink},
		{"contents and body", "/a contents=" + canary + " body=" + canary, "f:1:21: second body of a request: want one, by contents= or body="},
		{"contents and file", "/a contents='' body=@b", "f:1:16: second body of a request: want one, by contents= or body="},
		{"two contents", "/a contents=a contents=b", "f:1:15: second body of a request: want one, by contents= or body="},
		{"open quote", "/a contents=\"" + canary + "\n/b", `f:1:13: quote that its line does not close: want \n for a line end in a text`},
		{"open quote inside", "/a contents=it's\t" + canary, `f:1:15: quote that its line does not close: want \n for a line end in a text`},
		{"open quote after a continuation", "/a contents='\\\n" + canary + "\"\r\n", `f:1:13: quote that its line does not close: want \n for a line end in a text`},
		{"backslash at the end", `/a contents=` + canary + `\`, "f:1:20: backslash at the end of the file: want a character after it"},
		{"rest of a bare text", "/a contents=my " + canary, "f:1:16: unknown parameter: " + known},
		{"method in a bare text", "/a contents=my method=@" + canary, "f:1:16: method that is no token: want one such as GET"},
		{"think time in a bare text", "/a headers=A:b think=" + canary, "f:1:16: " + noThink},
		{"header without a colon", "/a headers=" + canary, "f:1:4: header line without a colon: want Name: value"},
		{"header name", "/a headers='A " + canary + ": b'", "f:1:4: header name that is no token: want one such as Accept"},
		{"header value", "/a headers='A: " + canary + "\x00'", "f:1:4: header value with a control character: want none but HTAB"},
		{"bare CR in a header", `/a headers="A: ` + canary + `\rB: c"`, "f:1:4: header value with a control character: want none but HTAB"},
		{"folded header", `/a headers="A: b\n ` + canary + `: c"`, "f:1:4: header name that is no token: want one such as Accept"},
		{"empty header line", `/a headers="A: b\n\nC: d"`, "f:1:4: header line without a colon: want Name: value"},
		{"open quote of a file", "/a body=@'x", `f:1:10: quote that its line does not close: want \n for a line end in a text`},
		{"no file", "/a body=@", "f:1:4: body file without a name: want @FILE"},
		{"missing file", "/a body=@no", `f:1:4: body file "no": open no: file does not exist: want a file that can be read`},
		{"second line of CRLF", "/a\r\n/b foo\r\n", "f:2:4: unknown parameter: " + known},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseSessions("f", []byte(tt.in), fakeFiles(nil))
			if got != nil {
				t.Errorf("ParseSessions(%q) = %+v, want none", tt.in, got)
			}
			wantError(t, tt.in, err, tt.want)
		})
	}
}

func TestParseSessionsReadsAFileOnce(t *testing.T) {
	t.Parallel()
	calls := 0
	open := func(path string) ([]byte, error) {
		calls++
		return nil, nil
	}
	got, err := ParseSessions("d/f", []byte("/a body=@x\n/b body=@./x\n/c body=@../d/x"), open)
	if err != nil || len(got) != 1 || len(got[0].Bursts) != 3 || got[0].Bursts[2].Requests[0].Body == nil {
		t.Fatalf("got %+v, %v, want three bursts with bodies", got, err)
	}
	if calls != 1 {
		t.Errorf("the file was opened %d times, want 1", calls)
	}
}

func TestParseSessionsKeepsTheErrorOfAFile(t *testing.T) {
	t.Parallel()
	_, err := ParseSessions("f", []byte("/a body=@x"), func(string) ([]byte, error) { return nil, errBroken })
	if !errors.Is(err, errBroken) {
		t.Errorf("error %v, want it to wrap %v", err, errBroken)
	}
}

// No line and no text is too long.
func TestParseSessionsLong(t *testing.T) {
	t.Parallel()
	uri, body := "/"+strings.Repeat("u", 1<<17), strings.Repeat("b c", 1<<17)
	got, err := ParseSessions("f", []byte(uri+" contents='"+body+"'"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := got[0].Bursts[0].Requests[0]; r.URI != uri || string(r.Body) != body {
		t.Errorf("got %d bytes of URI and %d of body, want %d and %d", len(r.URI), len(r.Body), len(uri), len(body))
	}
}

// formatSessions writes sessions so that ParseSessions reads them.
func formatSessions(sessions []Session) []byte {
	// A comment comes first: a byte order mark at the start of a URI is none of
	// the file.
	b := bytes.NewBufferString("#\n")
	quote := func(s string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(s) + `"`
	}
	for _, s := range sessions {
		for _, burst := range s.Bursts {
			for i, r := range burst.Requests {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(r.URI)
				if r.Method != "" {
					b.WriteString(" method=" + r.Method)
				}
				for _, f := range r.Header {
					b.WriteString(" headers=" + quote(f.Name+": "+f.Value))
				}
				if r.Body != nil {
					b.WriteString(" contents=" + quote(string(r.Body)))
				}
				if burst.HasThink && i == 0 {
					b.WriteString(" think=" + burst.Think.String())
				}
				b.WriteByte('\n')
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// What was read is what is read again after it was written.
func FuzzParseSessions(f *testing.F) {
	for _, s := range []string{
		"/a think=2.0\n\t/b.gif\n\n/c method=POST contents='x\\n' headers=\"A: b\\nC: d\"\r\n",
		"/a\\\nb contents=\"x\\\ny\" body=@f\n", "# c\n /a", "/a contents='", "/a think=1e9", "\xef\xbb\xbf/a body=@'", "\\\n\\", "\ufeff\ufeff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		open := func(path string) ([]byte, error) {
			if len(path)%2 > 0 {
				return nil, errBroken
			}
			return []byte(path), nil
		}
		got, err := ParseSessions("f", in, open)
		if err != nil {
			checkPlaced(t, in, err)
			return
		}
		for i := range got {
			if len(got[i].Bursts) == 0 {
				t.Fatalf("%q: session %d has no burst", in, i)
			}
			for j := range got[i].Bursts {
				b := &got[i].Bursts[j]
				if len(b.Requests) == 0 || b.Think < 0 || b.Think > 0 && !b.HasThink {
					t.Fatalf("%q: %+v: want requests and a think time", in, b)
				}
				for k := range b.Requests {
					r := &b.Requests[k]
					checkRequest(t, *r)
					// The lines of a file that was written are its own, and there
					// a number sign would begin a comment, a backslash at the
					// end of a URI would continue the line.
					r.Line = 1
					if r.URI[0] == '#' || bytes.HasSuffix([]byte(r.URI), []byte(`\`)) {
						return
					}
				}
			}
		}
		again, err := ParseSessions("f", formatSessions(got), nil)
		if err != nil {
			t.Fatalf("%q: written as %q: %v", in, formatSessions(got), err)
		}
		for i := range again {
			for j := range again[i].Bursts {
				for k := range again[i].Bursts[j].Requests {
					again[i].Bursts[j].Requests[k].Line = 1
				}
			}
		}
		equal(t, fmt.Sprintf("%q", in), again, got)
	})
}
