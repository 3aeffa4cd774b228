package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secretFields are lines of a header whose values nobody but the server sees.
const secretFields = "Authorization: Bearer canary\nCookie: id=canary\nX-Api-Key: canary\n"

// What files say in bodies and headers, and the cookies of replies, reach the
// server and no output, whatever is printed.
func TestSecretsOfFiles(t *testing.T) {
	t.Parallel()
	const setCookie = "HTTP/1.1 200 OK\r\nSet-Cookie: sid=canary-cookie; Path=/\r\nContent-Length: 5\r\n\r\nhello"
	for _, tt := range []struct {
		name, file string // @port@ stands for the server's
		args       string
		want       string // what a connection brings
	}{
		{"session file", `/a method=POST contents="canary-body" headers="Authorization: Bearer canary\nCookie: id=canary"` + "\n/b method=PUT body=@body\n", "--server 127.0.0.1 --port PORT --wsesslog 2,0,FILE", "canary-body"},
		{"session file with a failure", "/a method=POST body=@body headers='X-Api-Key: canary'\n", "--server 127.0.0.1 --port PORT --wsesslog 2,0,FILE --failure-status 200", "canary-file"},
		{"session cookies", "/a\n/b\n", "--server 127.0.0.1 --port PORT --wsesslog 2,0,FILE --session-cookies", "Cookie: sid=canary-cookie"},
		{"targets", "POST http://127.0.0.1:@port@/a\n" + secretFields + "@body\n", "--targets FILE -n 2", "Authorization: Bearer canary"},
		{"JSON targets", `{"method":"POST","url":"http://127.0.0.1:@port@/a","header":{"Authorization":["canary"]},"body":"Y2FuYXJ5LWJvZHk="}`, "--targets FILE -n 2", "canary-body"},
		{"archive", `{"log":{"entries":[{"startedDateTime":"2030-01-02T03:04:05Z","request":{"method":"POST","url":"http://127.0.0.1:@port@/a",
			"headers":[{"name":"Cookie","value":"id=canary"},{"name":"Authorization","value":"canary"}],"postData":{"mimeType":"text/plain","text":"canary-body"}}}]}}`, "--har FILE", "canary-body"},
		{"command line", "/a\n", "--server 127.0.0.1 --port PORT --wsesslog 2,0,FILE --header Authorization:canary --add-header Cookie:canary\\n", "Authorization: canary"},
		{"flags together", "", "--server 127.0.0.1 --port PORT -n 2 -4H Authorization:canary", "Authorization: canary"},
		{"body", "", "--server 127.0.0.1 --port PORT -n 2 -d canary-body", "canary-body"},
		{"body of a file", "", "--server 127.0.0.1 --port PORT -n 2 -d @FOLDER/body", "canary-file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &scripted{reply: answer(setCookie)}
			s.start(t)
			dir := inFolder(t, map[string]string{"file": strings.ReplaceAll(tt.file, "@port@", s.port()), "body": "canary-file"})
			args := strings.Fields(strings.NewReplacer("FILE", filepath.Join(dir, "file"), "FOLDER", dir, "PORT", s.port()).Replace(tt.args))
			outputs := map[string]string{"json": "", "csv": "", "ndjson": "", "text": "", "httperf": ""}
			argv := append([]string{"httpgen", "-v", "-v", "--periodic-stats", "--timeout", "20"}, args...)
			for format := range outputs {
				argv = append(argv, "-o", format+"="+filepath.Join(dir, format))
			}
			code, stdout, stderr := finish(t, argv...)
			if !anyVerdict(code) {
				t.Errorf("exit code %d", code)
			}
			for format := range outputs {
				b, err := os.ReadFile(filepath.Join(dir, format))
				if err != nil {
					t.Fatal(err)
				}
				outputs[format] = string(b)
			}
			outputs["standard output"], outputs["standard error"] = stdout, stderr
			_, outputs["plan"], outputs["plan's standard error"] = finish(t, append([]string{"httpgen", "--dry-run"}, args...)...)
			for name, text := range outputs {
				if strings.Contains(text, "canary") {
					t.Errorf("%s shows a secret:\n%s", name, text)
				}
			}
			if sent := strings.Join(s.stop(), ""); !strings.Contains(sent, tt.want) {
				t.Errorf("the server got %q, want %q in it", sent, tt.want)
			}
		})
	}
}

// Messages about files that are wrong do not show what is in them.
func TestSecretsInMessages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string
		args       string
	}{
		{"open quote", "/a method=POST contents='canary\n", "--wsesslog 1,0,FILE"},
		{"text without quotes", "/a method=POST contents=a canary\n", "--wsesslog 1,0,FILE"},
		{"rest of a body", "/a method=POST contents={\n\"password\": \"canary\"}\n", "--wsesslog 1,0,FILE"},
		{"broken header", "/a headers='Authorization canary'\n", "--wsesslog 1,0,FILE"},
		{"header with a NUL", "/a headers='Authorization: canary\x00'\n", "--wsesslog 1,0,FILE"},
		{"user in a target", "GET http://user:canary@127.0.0.1/\n", "--targets FILE"},
		{"broken target with a user", "GET http://user:canary@127.0.0.1:port/\n", "--targets FILE"},
		{"target's broken header", "GET /a\nAuthorization\x01: canary\n", "--targets FILE"},
		{"header without a target", "Authorization: canary\n", "--targets FILE"},
		{"target's body", `{"method":"POST","url":"/a","body":"canary!"}`, "--targets FILE"},
		{"broken JSON target", `{"method":"POST","url":"/a","header":{"Authorization":["canary"]`, "--targets FILE"},
		{"user in an archive", `{"log":{"entries":[{"startedDateTime":"2030-01-02T03:04:05Z","request":{"method":"GET","url":"http://user:canary@127.0.0.1/"}}]}}`, "--har FILE"},
		{"header in an archive", `{"log":{"entries":[{"startedDateTime":"2030-01-02T03:04:05Z","request":{"method":"GET","url":"http://h/","headers":[{"name":"Cookie\n","value":"canary"}]}}]}}`, "--har FILE"},
		{"broken archive", `{"log":{"entries":[{"startedDateTime":"2030-01-02T03:04:05Z","request":{"method":"POST","url":"http://h/","postData":{"text":"canary"`, "--har FILE"},
		{"user in a server", "user:canary@127.0.0.1\n", "--servers FILE"},
		{"header file", "Authorization canary\n", "--add-header-file FILE"},
		{"key", "canary", "https://127.0.0.1/ --cert CERT --key FILE"},
		{"certificate", "canary", "https://127.0.0.1/ --cert FILE"},
		{"authorities", "canary", "https://127.0.0.1/ --cacert FILE"},
		{"user in a URL", "", "http://user:canary@127.0.0.1/"},
		{"broken URL with a user", "", "http://user:canary@127.0.0.1:port/%"},
		{"cookie twice", "", "http://127.0.0.1/ --session-cookies -H Cookie:canary"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := inFolder(t, map[string]string{"file": tt.file})
			cert := filepath.Join(dir, "cert")
			pemFile(t, cert)
			args := strings.NewReplacer("FILE", filepath.Join(dir, "file"), "CERT", cert).Replace(tt.args)
			code, stdout, stderr := call(append([]string{"httpgen", "--dry-run"}, strings.Fields(args)...)...)
			if code != exitUsage || strings.Contains(stdout+stderr, "canary") {
				t.Errorf("exit code %d, %s; want %d and no secret", code, fmt.Sprint(stdout, stderr), exitUsage)
			}
		})
	}
}
