package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The examples of what is new in session files do what the guide says.
func TestGuideSessionFiles(t *testing.T) {
	t.Parallel()
	all := readGuide(t).grammar
	requests := map[string]string{
		"any method":               "PATCH /a ",
		"think time with a unit":   "GET /a GET /b ",
		"body":                     "POST /a text",
		"body file":                "POST /a the body",
		"headers":                  "GET /a ",
		"request on several lines": "PUT /a text",
	}
	for name, r := range all {
		if want := []string{"same", "new"}; !slices.Contains(want, r.verdict) || r.text == "" || (r.verdict == "new") != (requests[name] != "") {
			t.Errorf("%s: verdict %q, %q; want one of %q, what it means, and a test of its own if it is new", name, r.verdict, r.text, want)
		}
	}
	for name, want := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, n := all[name].sessionFile(t)
			s := &scripted{reply: answer(fine)}
			s.start(t)
			res := measure(t, "--server", "127.0.0.1", "--port", s.port(), "--wsesslog", fmt.Sprintf("%d,0,%s", n, file))
			if res.Sessions == nil || res.Sessions.OK != uint64(n) || res.Sessions.Total != uint64(n) {
				t.Errorf("sessions %+v, want %d that ended well", res.Sessions, n)
			}
			sent := strings.Join(s.stop(), "")
			have := regexp.MustCompile(`(?s) HTTP/1\.1\r\n.*?\r\n\r\n`).ReplaceAllString(sent, " ")
			if have != want || name == "headers" && !strings.Contains(sent, "\r\nAccept: a/b\r\nX-A: b\r\n") {
				t.Errorf("the server got %q, want %q", sent, want)
			}
		})
	}
}
