package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"httpgen/client"
)

func TestParseArms(t *testing.T) {
	t.Parallel()
	have, err := parseArms([]byte(`[
		{"name": "a", "url": "http://h/", "headers": ["Host: x", "A: b"], "setup": "up", "ready": "http://h/ok", "teardown": "down", "pid": "@p"},
		{"name": "b", "url": "https://h/", "pid": "12"}
	]`))
	want := []arm{
		{name: "a", url: "http://h/", header: []client.Header{{Name: "Host", Value: "x"}, {Name: "A", Value: "b"}}, setup: "up", ready: "http://h/ok", teardown: "down", process: pidSource{file: "p"}},
		{name: "b", url: "https://h/", process: pidSource{pid: 12}},
	}
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("have %+v, %v; want %+v", have, err, want)
	}
	for text, want := range map[string]string{
		`{}`:                                 "want a JSON list",
		``:                                   "want a JSON list",
		`[] []`:                              "more follows the list",
		`[{"nam": "a"}]`:                     `unknown field "nam"`,
		`[{"name": "", "url": "http://h/"}]`: "arm 1: name: empty",
		`[{"name": "a", "url": "h"}]`:        `arm 1: url: "h": want http://HOST`,
		`[{"name": "a", "url": "http://h/", "ready": "h"}]`:              `arm 1: ready: "h"`,
		`[{"name": "a", "url": "http://h/", "pid": "0"}]`:                `arm 1: pid: "0": want the number of a process`,
		`[{"name": "a", "url": "http://h/", "pid": "@"}]`:                `arm 1: pid: "@": want the number`,
		`[{"name": "a", "url": "http://h/", "headers": ["x"]}]`:          "arm 1: headers: ",
		`[{"name": "a", "url": "http://u:secret@[/"}]`:                   "arm 1: url: the URL is not valid",
		`[{"name": "a", "url": "http://h/"}, {"name": "b", "url": "-"}]`: "arm 2: url: ",
	} {
		_, err := parseArms([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

func FuzzParseArms(f *testing.F) {
	f.Add([]byte(`[{"name": "a", "url": "http://h/", "headers": ["Host: x"], "setup": "up", "ready": "http://h/", "teardown": "down", "pid": "@p"}]`))
	f.Add([]byte(`[{"name": "a", "url": "http://h/", "pid": "12"}, {}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		arms, err := parseArms(b)
		for _, a := range arms {
			if a.name == "" || checkURL(a.url) != nil || err != nil {
				t.Errorf("%q is read as %+v, %v", b, a, err)
			}
		}
	})
}

// The options of single arms are put to the arms of the file and of the command
// line.
func TestArms(t *testing.T) {
	t.Parallel()
	f := armFlags{
		Arms:  armsFile{[]arm{{name: "a", url: "http://h/a"}}},
		Setup: []named{{"b", "up"}}, Teardown: []named{{"a", "down"}}, Ready: []named{{"a", "http://h/"}},
		PID: []named{{"b", "@file"}}, ArmHeader: []named{{"b", "Host: x"}, {"b", "A: b"}},
	}
	have, err := f.arms([]named{{"b", "http://h/b"}})
	want := []arm{
		{name: "a", url: "http://h/a", teardown: "down", ready: "http://h/"},
		{name: "b", url: "http://h/b", setup: "up", process: pidSource{file: "file"}, header: []client.Header{{Name: "Host", Value: "x"}, {Name: "A", Value: "b"}}},
	}
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("have %+v, %v; want %+v", have, err, want)
	}
}

// The number of a process is read from its file each time.
func TestPIDSource(t *testing.T) {
	t.Parallel()
	if (pidSource{}).time() != nil {
		t.Error("no process has a time")
	}
	file := filepath.Join(t.TempDir(), "pid")
	cpu := pidSource{file: file}.time()
	for _, tt := range []struct {
		text string
		want string // of the error; empty for none
	}{
		{"", "holds \"\": want the number of a process"},
		{"@other", `holds "@other": want the number`},
		{strconv.Itoa(os.Getpid()) + "\n", ""},
		{"2147483647", "2147483647"},
	} {
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := cpu()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want %q", tt.text, err, tt.want)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := cpu(); err == nil {
		t.Error("a file that is gone has a process")
	}
}
