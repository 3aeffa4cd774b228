package dashboard

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mustWrite writes all files into a new directory.
func mustWrite(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if _, err := Write(dir, false); err != nil {
		t.Fatal(err)
	}
	return dir
}

// mustFiles returns all files.
func mustFiles(t *testing.T) map[string][]byte {
	t.Helper()
	all, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFiles(t *testing.T) {
	t.Parallel()
	all := mustFiles(t)
	want := []string{
		"alerts.yml", "dashboards/httpgen-native.json", "dashboards/httpgen.json", "provisioning/dashboards/httpgen.yml",
		"provisioning/datasources/httpgen.yml", "rules.yml", "scrape.yml", "tests.yml",
	}
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if again := mustFiles(t); !maps.EqualFunc(all, again, bytes.Equal) {
		t.Error("a second call returns other content")
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	paths, err := Write(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	want := mustFiles(t)
	if len(paths) != len(want) {
		t.Errorf("%d paths, want %d", len(paths), len(want))
	}
	wantTree(t, dir, want)
	for _, p := range paths {
		if i, err := os.Stat(p); err != nil || i.Mode() != 0o644 {
			t.Errorf("%s: %v, %v, want mode 0644", p, i.Mode(), err)
		}
	}

	// One file in the way, and nothing is written.
	rules := filepath.Join(dir, "rules.yml")
	for name := range want {
		if name != "rules.yml" {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(rules, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, false); err == nil || err.Error() != "dashboard: "+rules+" exists: want a new file, or force" {
		t.Errorf("Write over a file: %v", err)
	}
	wantTree(t, dir, map[string][]byte{"rules.yml": []byte("mine")})
	if _, err := Write(dir, true); err != nil {
		t.Fatal(err)
	}
	wantTree(t, dir, want)
}

// What was there stays as it was when it cannot be replaced, and nothing is
// left beside it.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	alerts := filepath.Join(dir, "alerts.yml")
	if err := os.Mkdir(alerts, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, true); err == nil || !strings.HasPrefix(err.Error(), "dashboard: ") || !strings.Contains(err.Error(), alerts) {
		t.Errorf("Write over a directory: %v, want an error that names %s", err, alerts)
	}
	wantTree(t, dir, map[string][]byte{})
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(file, false); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Write into a file: %v, want an error that names it", err)
	}
}

// wantTree compares the files below dir.
func wantTree(t *testing.T, dir string, want map[string][]byte) {
	t.Helper()
	got := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		got[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%s holds %q, want %q with their content", dir, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

func TestPromtool(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool here")
	}
	dir := mustWrite(t)
	for _, args := range [][]string{
		{"check", "rules", "rules.yml", "alerts.yml"},
		{"check", "config", "scrape.yml"},
		{"test", "rules", "tests.yml"},
	} {
		t.Run(args[0]+" "+args[1], func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), promtool, args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
			}
		})
	}
}
