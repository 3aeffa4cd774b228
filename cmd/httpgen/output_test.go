package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

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
	if err := s.render(nil, result()); err != nil {
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
	if err := s.render(nil, result()); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s: %v, %v; want a device", os.DevNull, info, err)
	}
}

// -v and -vv are for the text on standard output alone.
func TestBefore(t *testing.T) {
	t.Parallel()
	h := hdrhistogram.New(1000, int64(time.Hour), 3)
	for _, ms := range []float64{0.2, 0.7, 1.3, 4.1, 4.9} {
		if err := h.RecordValue(int64(ms * float64(time.Millisecond))); err != nil {
			t.Fatal(err)
		}
	}
	encoded, err := h.EncodeV2()
	if err != nil {
		t.Fatal(err)
	}
	r := result()
	r.Rates.Replies.Samples = 2
	r.Times.Lifetime.HDR = string(encoded)
	const rates = "reply-rate = 100.0\nreply-rate = 99.5\n"
	const histogram = "Connection lifetime histogram [ms]:\n         0.5 2\n         1.5 1\n           :\n         4.5 2\n"
	for _, tt := range []struct {
		name    string
		o       output
		verbose int
		want    string
	}{
		{"not verbose", output{format: "text"}, 0, ""},
		{"rates", output{format: "text"}, 1, rates},
		{"histogram", output{format: "httperf"}, 2, rates + histogram},
		{"json", output{format: "json"}, 2, ""},
		{"file", output{"text", "x"}, 2, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := &execution{verbose: tt.verbose, samples: []float64{100, 99.5, 3}}
			if have := string(e.before(&sink{output: tt.o}, r)); have != tt.want {
				t.Errorf("have\n%s\nwant\n%s", have, tt.want)
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
		sinks:  []*sink{{output: output{format: "text"}, w: failing{}}, {output: output{"csv", "x"}, w: &good}},
		broken: map[*sink]error{},
		tap:    newTap(failing{}, headerPart, 0),
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
