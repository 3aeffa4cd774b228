package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"httpgen/internal/run"
)

// A uriList is httperf's --wlog: URIs of a file, y to begin again after the last
// one and n to end with it.
type uriList struct {
	file string
	once bool
	uris []string
	rows []int // one a URI: its line; nil where NULs end them
}

func (l *uriList) UnmarshalText(b []byte) error {
	again, file, ok := strings.Cut(string(b), ",")
	switch {
	case !ok || file == "" || again != "y" && again != "n":
		return fmt.Errorf("%q: want y,FILE (again and again) or n,FILE (once)", b)
	case file == "-":
		return errors.New(`"-": standard input is not read, want the name of a file`)
	}
	content, err := readFile(file)
	if err != nil {
		return err
	}
	*l = uriList{file: file, once: again == "n"}
	l.uris, l.rows = splitURIs(content)
	if len(l.uris) == 0 {
		return fmt.Errorf("%q: it holds no URI, want one a line or one before each NUL", file)
	}
	return nil
}

// splitURIs returns the entries of a list: they end with a NUL where there is
// one, as httperf wants it, else with the line, and rows are then their lines.
// Empty ones are left out.
func splitURIs(content []byte) (uris []string, rows []int) {
	end, lines := "\n", true
	if bytes.IndexByte(content, 0) >= 0 {
		end, lines = "\x00", false
	}
	row := 0
	for uri := range strings.SplitSeq(string(content), end) {
		row++
		if uri = strings.TrimSuffix(uri, "\r"); strings.TrimSpace(uri) == "" {
			continue
		}
		uris = append(uris, uri)
		if lines {
			rows = append(rows, row)
		}
	}
	return uris, rows
}

// workingSet is httperf's --wset: N files and a step.
type workingSet run.WorkingSet

func (w *workingSet) UnmarshalText(b []byte) error {
	n, x, ok := strings.Cut(string(b), ",")
	files, err := parseCount(n, 1, run.MaxWorkingSet)
	step, err2 := number(x)
	if !ok || err != nil || err2 != nil || step.Sign() < 0 || step.Cmp(big.NewRat(1, 1)) > 0 {
		return fmt.Errorf("%q: want N,X: files from 1 to %d, and the part of a file that each call moves on by, from 0 to 1", b, run.MaxWorkingSet)
	}
	w.N = int(files)
	w.Step, _ = step.Float64()
	return nil
}
