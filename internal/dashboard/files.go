package dashboard

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed files
var fixed embed.FS

// Files returns what is shipped by its name, a relative path with slashes. The
// caller may change it.
func Files() (map[string][]byte, error) {
	all := map[string][]byte{}
	err := fs.WalkDir(fixed, "files", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all[strings.TrimPrefix(name, "files/")], err = fixed.ReadFile(name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	for _, k := range []kind{classic, native} {
		b, err := newBoard(k).encode()
		if err != nil {
			return nil, fmt.Errorf("dashboard: %s: %w", k.uid, err)
		}
		all["dashboards/"+k.uid+".json"] = b
	}
	return all, nil
}

// Write writes all files into dir, which it makes if need be, and returns their
// paths in order. If one of them exists it writes none, unless force is set. A
// file is replaced as a whole or not at all; others may have been written when
// it returns an error.
func Write(dir string, force bool) ([]string, error) {
	all, err := Files()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Lstat(path); err == nil && !force {
			return nil, fmt.Errorf("dashboard: %s exists: want a new file, or force", path)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("dashboard: %w", err)
		}
		paths = append(paths, path)
	}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if err := replace(paths[i], all[name]); err != nil {
			return nil, fmt.Errorf("dashboard: %w", err)
		}
	}
	return paths, nil
}

// replace writes a file under another name beside it and moves it there.
func replace(path string, content []byte) error {
	dir, name := filepath.Split(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	// Grafana and Prometheus read them as other users.
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
