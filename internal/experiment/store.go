package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"httpgen/internal/run"
)

// A Key says what a folder of trials is of.
type Key struct {
	Kind    string `json:"kind"`    // "sweep", "compare" or "fair"
	Version string `json:"version"` // of the program
	Hash    string `json:"hash"`    // of all options that say which trials are run, and how
}

// newKey makes a key of whatever decides the trials; parts must be possible to
// write as JSON. Only the hash is kept, so they may hold secrets.
func newKey(kind string, parts ...any) (Key, error) {
	b, err := json.Marshal(parts)
	if err != nil {
		return Key{}, fmt.Errorf("experiment: plan: %w", err)
	}
	sum := sha256.Sum256(b)
	return Key{kind, run.Version, hex.EncodeToString(sum[:])}, nil
}

// options returns o as a part of a key. What has no content to compare, or none
// that matters, is left out; processes and files go by their names.
func options(o run.Options) any {
	var log int64
	if o.Log != nil {
		log = int64(o.Log.Len())
	}
	o.Process, o.Log, o.Tap, o.Argv = nil, nil, nil, nil
	return []any{o, log}
}

// A Store keeps the trials of one experiment in a folder: a file with the plan's
// key, and one for each trial. Files appear whole or not at all.
type Store struct {
	dir  string
	kept []Trial // read at the start
	done int     // of kept, handed out
}

const (
	keyFile   = "plan.json"
	trialFile = "trial-%06d.json"
)

// NewStore makes a folder for an experiment, or takes an empty one.
func NewStore(dir string, k Key) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("experiment: folder %q is not empty: want an empty one, or to resume what it holds", dir)
	}
	return &Store{dir: dir}, write(dir, keyFile, k)
}

// OpenStore reads the trials of an experiment that is to be resumed. The plan
// and the program's version must be the same.
func OpenStore(dir string, k Key) (*Store, error) {
	had, trials, err := ReadTrials(dir)
	if err != nil {
		return nil, err
	}
	switch {
	case had.Kind != k.Kind:
		return nil, fmt.Errorf("experiment: folder %q holds the trials of %q: want those of %q", dir, had.Kind, k.Kind)
	case had.Version != k.Version:
		return nil, fmt.Errorf("experiment: folder %q was made by version %q: want %q, trials of different versions are not mixed", dir, had.Version, k.Version)
	case had.Hash != k.Hash:
		return nil, fmt.Errorf("experiment: folder %q was made with other options: want the same, with the same seed", dir)
	}
	return &Store{dir: dir, kept: trials}, nil
}

// ReadTrials returns what a folder holds, in order.
func ReadTrials(dir string) (Key, []Trial, error) {
	var k Key
	if err := read(dir, keyFile, &k); err != nil {
		return k, nil, err
	}
	var trials []Trial
	for {
		var t Trial
		name := fmt.Sprintf(trialFile, len(trials)+1)
		err := read(dir, name, &t)
		if errors.Is(err, fs.ErrNotExist) {
			return k, trials, nil
		}
		if err != nil {
			return k, nil, err
		}
		if t.ID != len(trials)+1 || t.Result == nil {
			return k, nil, fmt.Errorf("experiment: %s: trial %d, with a result: %v; want trial %d with one", filepath.Join(dir, name), t.ID, t.Result != nil, len(trials)+1)
		}
		trials = append(trials, t)
	}
}

// next returns the kept trial that takes the place of the one wanted.
func (s *Store) next(want Trial) (*Trial, bool, error) {
	if s.done == len(s.kept) {
		return nil, false, nil
	}
	t := &s.kept[s.done]
	a, b := *t, want
	for _, c := range []*Trial{&a, &b} {
		c.Outcome, c.Reason, c.TargetCPUSeconds, c.Counters, c.Result = "", "", nil, nil, nil
	}
	if a != b {
		return nil, false, fmt.Errorf("experiment: kept trial %d in %q is %s: want %s", t.ID, s.dir, t.place(), want.place())
	}
	s.done++
	return t, true, nil
}

// place says which trial of a plan t is.
func (t *Trial) place() string {
	return fmt.Sprintf("{phase %q, arm %q, block %d, rate %g, connections %d}", t.Phase, t.Arm, t.Block, t.RatePerSecond, t.Connections)
}

// cut forgets the kept trials from number n on, counted from 0. Their files are
// overwritten as they are run again.
func (s *Store) cut(n int) error {
	for i := len(s.kept); i > n; i-- { // the last one first: what stays has no gap
		if err := os.Remove(filepath.Join(s.dir, fmt.Sprintf(trialFile, i))); err != nil {
			return fmt.Errorf("experiment: %w", err)
		}
	}
	s.kept = s.kept[:min(n, len(s.kept))]
	return nil
}

// save keeps a trial.
func (s *Store) save(t *Trial) error { return write(s.dir, fmt.Sprintf(trialFile, t.ID), t) }

// write puts a value into a file that appears when it is complete. Results hold
// command lines: they are for the user alone.
func write(dir, name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("experiment: %s: %w", name, err)
	}
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return fmt.Errorf("experiment: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("experiment: %w", err)
	}
	return nil
}

func read(dir, name string, v any) error {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("experiment: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("experiment: %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}
