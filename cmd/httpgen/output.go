package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"httpgen/internal/report"
)

// output is one -o: a format, and a file or standard output.
type output struct {
	format string
	file   string // empty for standard output
}

// renderers are the formats of a finished result. ndjson is not among them: it
// is written while the run goes on.
var renderers = map[string]func(report.Details, io.Writer, *report.Result) error{
	"text":    report.Details.Text,
	"httperf": report.Details.Classic,
	"json":    func(_ report.Details, w io.Writer, r *report.Result) error { return report.JSON(w, r) },
	"csv":     func(_ report.Details, w io.Writer, r *report.Result) error { return report.CSV(w, r) },
}

const live = "ndjson"

func (o *output) UnmarshalText(b []byte) error {
	format, file, named := strings.Cut(string(b), "=")
	if renderers[format] == nil && format != live {
		return fmt.Errorf("%q: want text, httperf, json, csv or ndjson, and =FILE for a file", b)
	}
	if named && file == "" {
		return fmt.Errorf("%q: the name of the file is empty", b)
	}
	*o = output{format, file}
	return nil
}

// outputs completes what was asked for: one of the result, the first, goes to
// standard output.
func outputs(asked []output, classic bool) ([]output, error) {
	first := output{format: "text"}
	if classic {
		first.format = "httperf"
	}
	var onStdout bool
	var files []output
	names := map[string]bool{}
	for _, o := range asked {
		switch {
		case o.file == "" && onStdout:
			return nil, fmt.Errorf("--output %s: %s goes to standard output already, give one of them a file: %s=FILE", o.format, first.format, o.format)
		case o.file == "":
			first, onStdout = o, true
		case names[filepath.Clean(o.file)]:
			return nil, fmt.Errorf("--output %s=%s: the file is given twice", o.format, o.file)
		default:
			names[filepath.Clean(o.file)] = true
			files = append(files, o)
		}
	}
	return append([]output{first}, files...), nil
}

// plain says whether the result is text for people, which other lines may
// stand beside.
func (o output) plain() bool { return o.format == "text" || o.format == "httperf" }

// A sink is an output that is open. A file appears under its name only when it
// is complete, so that a reader never sees half of it; what is written live, and
// what is no regular file, is written in place.
type sink struct {
	output
	w    io.Writer
	file *os.File // nil for standard output
	name string   // of the file once it is complete; empty when it is written in place
}

// openSinks opens all outputs. On an error none is left open.
func openSinks(outputs []output, stdout io.Writer) ([]*sink, error) {
	var sinks []*sink
	for _, o := range outputs {
		s := &sink{output: o, w: stdout}
		if o.file != "" {
			if err := s.open(); err != nil {
				discard(sinks)
				return nil, fmt.Errorf("--output %s=%s: %w", o.format, o.file, err)
			}
		}
		sinks = append(sinks, s)
	}
	return sinks, nil
}

func (s *sink) open() error {
	name := s.output.file
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder")
	case s.format == live || err == nil && !info.Mode().IsRegular():
		// Results hold command lines: they are for the user alone.
		s.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	case err == nil:
		// The file that a link points to is replaced, not the link.
		if s.name, err = filepath.EvalSymlinks(name); err == nil {
			s.file, err = os.CreateTemp(filepath.Dir(s.name), ".httpgen-*")
		}
	case errors.Is(err, fs.ErrNotExist):
		s.name = name
		s.file, err = os.CreateTemp(filepath.Dir(name), ".httpgen-*")
	}
	s.w = s.file
	return err
}

// render writes a result in the sink's format. Details are for standard output
// alone.
func (s *sink) render(d report.Details, r *report.Result) error {
	if s.format == live {
		return nil
	}
	if s.output.file != "" {
		d = report.Details{}
	}
	return s.put(func(w io.Writer) error { return renderers[s.format](d, w, r) })
}

// put writes what make makes, all of it or, if there is an error, nothing.
func (s *sink) put(make func(io.Writer) error) error {
	var b bytes.Buffer
	if err := make(&b); err != nil {
		return err
	}
	_, err := s.w.Write(b.Bytes())
	return err
}

// complete closes the sink if what was written to it was, without err, and gives
// it up else. The error it returns names the sink.
func (s *sink) complete(err error) error {
	if err == nil {
		err = s.close()
	} else {
		discard([]*sink{s})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.where(), err)
	}
	return nil
}

// close completes the output.
func (s *sink) close() error {
	if s.file == nil {
		return nil
	}
	if s.name == "" {
		return s.file.Close()
	}
	err := s.file.Sync()
	if e := s.file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(s.file.Name(), s.name)
	}
	if err != nil {
		os.Remove(s.file.Name())
	}
	return err
}

// where names the sink in an error.
func (s *sink) where() string {
	if s.output.file == "" {
		return "standard output"
	}
	return s.output.file
}

// discard gives up files that are not complete.
func discard(sinks []*sink) {
	for _, s := range sinks {
		if s.name != "" {
			os.Remove(s.file.Name())
		}
	}
}
