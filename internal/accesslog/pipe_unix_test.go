//go:build unix

package accesslog

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe is refused at once: opening it would wait for a writer.
func TestOpenPipe(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	_, err := Open(name, Options{})
	if want := "accesslog: " + name + ": a pipe: want a regular file"; err == nil || err.Error() != want {
		t.Errorf("Open: %v, want %s", err, want)
	}
}
