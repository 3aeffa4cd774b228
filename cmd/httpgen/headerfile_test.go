package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"httpgen/client"
	"httpgen/internal/http1"
)

func TestHeaderFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tt := range []struct {
		name, content string
		want          []client.Header // nil for an error
		message       string          // part of it
	}{
		{name: "CR LF", content: "A: b\r\nC:d\r\n", want: []client.Header{{Name: "A", Value: "b"}, {Name: "C", Value: "d"}}},
		{name: "LF", content: "A: b\nC:\n", want: []client.Header{{Name: "A", Value: "b"}, {Name: "C", Value: ""}}},
		{name: "no last end", content: "A: b\nC: d", want: []client.Header{{Name: "A", Value: "b"}, {Name: "C", Value: "d"}}},
		{name: "no escapes", content: "A: \\n\\101\n", want: []client.Header{{Name: "A", Value: `\n\101`}}},
		{name: "empty", message: ": it is empty, want header lines"},
		{name: "empty line", content: "A: b\r\n\r\n", message: ":2: an empty line would end the header"},
		{name: "NUL", content: "A: b\nCookie: canary\x00\n", message: ":2: a NUL"},
		{name: "no colon", content: "canary", message: ":1: want NAME: VALUE"},
		{name: "blank in the name", content: "A: b\nC: d\nCookie : canary\n", message: ":3: want NAME: VALUE"},
		{name: "folded", content: "Cookie: a\r\n canary\r\n", message: ":2: want NAME: VALUE"},
		{name: "CR", content: "Cookie: canary\rX: y\n", message: ":1: want NAME: VALUE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(dir, tt.name)
			if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			var h headerFile
			err := h.UnmarshalText([]byte(file))
			if !slices.Equal(h.fields, tt.want) || (err != nil) != (tt.want == nil) {
				t.Fatalf("have %q, error %v; want %q", h.fields, err, tt.want)
			}
			if err != nil && (!strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), tt.message) || strings.Contains(err.Error(), "canary")) {
				t.Errorf("error %q, want the file and %q in it, and nothing of its text", err, tt.message)
			}
		})
	}
}

// Whatever a file holds, what is accepted is a header with a field a line.
func FuzzHeaderLines(f *testing.F) {
	for _, seed := range []string{"A: b\r\nC: d\n", "A:", "", "\n", "A: b\n\nC: d", "A\x00: b", "A: b\r", ": b", "A: b\n c\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		fields, err := headerLines("FILE", content)
		if err != nil {
			if fields != nil || !strings.Contains(err.Error(), "FILE") {
				t.Fatalf("%d fields, error %v; want none, and the file named", len(fields), err)
			}
			return
		}
		if lines := bytes.Count(bytes.TrimSuffix(content, []byte("\n")), []byte("\n")) + 1; len(fields) != lines {
			t.Fatalf("%d fields of %d lines", len(fields), lines)
		}
		var wire []byte
		for _, h := range fields {
			wire = append(wire, h.Name+": "+h.Value+"\r\n"...)
		}
		again, err := http1.SplitFields(wire)
		if err != nil || len(again) != len(fields) {
			t.Fatalf("sent as %q: %d fields, error %v; want %d", wire, len(again), err, len(fields))
		}
		for i, h := range again {
			if client.Header(h) != fields[i] {
				t.Fatalf("field %d arrives as %q, want %q", i, h, fields[i])
			}
		}
	})
}
