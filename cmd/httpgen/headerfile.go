package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"httpgen/client"
	"httpgen/internal/http1"
)

// A headerFile is httperf's --add-header-file: header lines without escapes.
type headerFile struct{ fields []client.Header }

func (h *headerFile) UnmarshalText(b []byte) error {
	name := string(b)
	if name == "-" {
		return errors.New(`"-": standard input is not read, want the name of a file`)
	}
	content, err := readFile(name)
	if err != nil {
		return err
	}
	h.fields, err = headerLines(name, content)
	return err
}

// headerLines reads lines that end with LF or CR LF; the last one may lack its
// end. Errors say where a mistake is and do not quote it: it may hold a secret.
func headerLines(name string, content []byte) ([]client.Header, error) {
	if len(content) == 0 {
		return nil, fmt.Errorf("%q: it is empty, want header lines", name)
	}
	var fields []client.Header
	n := 0
	for line := range bytes.Lines(content) {
		n++
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		switch {
		case len(line) == 0:
			return nil, fmt.Errorf("%s:%d: an empty line would end the header, want NAME: VALUE", name, n)
		case bytes.IndexByte(line, 0) >= 0:
			return nil, fmt.Errorf("%s:%d: a NUL, want NAME: VALUE", name, n)
		}
		field, err := http1.SplitFields(append(slices.Clone(line), '\n'))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: want NAME: VALUE, the name without blanks and the value without CR", name, n)
		}
		fields = append(fields, client.Header(field[0]))
	}
	return fields, nil
}
