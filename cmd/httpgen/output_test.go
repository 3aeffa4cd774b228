package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"httpgen/internal/report"
)

func TestOutputs(t *testing.T) {
	t.Parallel()
	text, classic, json := output{format: "text"}, output{format: "httperf"}, output{format: "json"}
	file := output{"json", "a"}
	for _, tt := range []struct {
		name    string
		asked   []output
		classic bool
		want    []output
	}{
		{"none", nil, false, []output{text}},
		{"httperf", nil, true, []output{classic}},
		{"format", []output{json}, false, []output{json}},
		{"file", []output{file}, false, []output{text, file}},
		{"both", []output{file, json}, false, []output{json, file}},
		{"httperf and format", []output{json}, true, []output{json}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if have, err := outputs(tt.asked, tt.classic); err != nil || !reflect.DeepEqual(have, tt.want) {
				t.Errorf("have %v, error %v; want %v", have, err, tt.want)
			}
		})
	}
}

func result() *report.Result {
	return &report.Result{Schema: report.ResultSchema, Verdict: report.Verdict{Status: report.Valid}}
}

// names returns what is in a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func openSink(t *testing.T, o output) *sink {
	t.Helper()
	sinks, err := openSinks([]output{o}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sinks[0]
}

// A file has its old content until the new one is complete.
func TestSinkIsAtomic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "result.json")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("result.json", link); err != nil {
		t.Fatal(err)
	}
	s := openSink(t, output{"json", link})
	if err := s.render(report.Details{}, result()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "old" {
		t.Errorf("before close: %.20q, %v; want the old content", b, err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name); err != nil || !bytes.HasPrefix(b, []byte("{\n  \"schema\": \"httpgen.result/1\"")) {
		t.Errorf("after close: %.50q, %v; want the result", b, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link: %v, %v; want it still a link", info, err)
	}
	if have, want := names(t, dir), []string{"link", "result.json"}; !reflect.DeepEqual(have, want) {
		t.Errorf("files %q, want %q", have, want)
	}
}

func TestSinkDiscard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sinks, err := openSinks([]output{{"json", filepath.Join(dir, "a")}, {"csv", filepath.Join(dir, "b")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	discard(sinks)
	if have := names(t, dir); have != nil {
		t.Errorf("files %q, want none", have)
	}
	// One that cannot be opened takes the others back.
	if _, err := openSinks([]output{{"json", filepath.Join(dir, "a")}, {"csv", filepath.Join(dir, "none", "b")}}, nil); err == nil {
		t.Error("no error for a folder that does not exist")
	}
	if _, err := openSinks([]output{{"json", dir}}, nil); err == nil {
		t.Error("no error for a folder")
	}
	if have := names(t, dir); have != nil {
		t.Errorf("files %q, want none", have)
	}
}

// What is no regular file is not replaced by one.
func TestSinkDevice(t *testing.T) {
	t.Parallel()
	s := openSink(t, output{"json", os.DevNull})
	if err := s.render(report.Details{}, result()); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s: %v, %v; want a device", os.DevNull, info, err)
	}
}

// Details are for the text on standard output alone.
func TestRenderDetails(t *testing.T) {
	t.Parallel()
	d := report.Details{Verbose: 2, Periodic: true}
	for _, tt := range []struct {
		o    output
		want bool
	}{
		{output{format: "text"}, true},
		{output{format: "httperf"}, true},
		{output{format: "json"}, false},
		{output{format: "csv"}, false},
		{output{format: live}, false},
		{output{"text", "x"}, false},
	} {
		t.Run(tt.o.format+tt.o.file, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			s := &sink{output: tt.o, w: &b}
			if err := s.render(d, result()); err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{"Connection lifetime histogram", "Periodic stats: 200=0 302=0"} {
				if have := strings.Contains(b.String(), "\n"+line); have != tt.want {
					t.Errorf("%q shows: %v, want %v in:\n%s", line, have, tt.want, b.String())
				}
			}
		})
	}
}

// failing is a writer that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

// An output that fails does not keep the others from being written.
func TestWriteGoesOn(t *testing.T) {
	t.Parallel()
	var good bytes.Buffer
	e := &execution{
		undertaking: undertaking{sinks: []*sink{{output: output{format: "text"}, w: failing{}}, {output: output{"csv", "x"}, w: &good}}},
		broken:      map[*sink]error{},
		tap:         newTap(failing{}, headerPart, 0),
	}
	e.tap.Request(0, []byte("GET / HTTP/1.1\r\n\r\n"))
	err := e.write(result())
	if err == nil || strings.Count(err.Error(), "standard output: file already closed") != 2 {
		t.Errorf("error %v, want that of the tap and that of the text", err)
	}
	if !strings.HasPrefix(good.String(), "stream,") {
		t.Errorf("the other output has %.20q, want the table", good.String())
	}
}
