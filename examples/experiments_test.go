//go:build accept && linux

package examples

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// missing is the status with which a script says that it lacks something.
const missing = 77

// tries is how often a script is run until it has an answer: a machine that does
// something else for some seconds leaves a short form without one.
const tries = 3

// short runs the short form of an example and returns what it printed.
func short(t *testing.T, name, bin string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(name, "run"), "--short", bin)
	// The servers of a script that has to be stopped are stopped by it.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The experiments have an answer in their short forms. They measure: they are run
// one after another, and nothing else may run meanwhile.
func TestExperiments(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "httpgen")
	if out, err := exec.Command("go", "build", "-o", bin, "../cmd/httpgen").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, name := range []string{"apache-behind-haproxy", "proxies", "haproxy-filter-rates", "proportional-share"} {
		t.Run(name, func(t *testing.T) {
			for n := range tries {
				out, err := short(t, name, bin)
				var exit *exec.ExitError
				switch {
				case errors.As(err, &exit) && exit.ExitCode() == missing:
					t.Skipf("%s", strings.TrimSpace(out))
				case err == nil:
					t.Logf("%s", out)
					return
				case n == tries-1:
					t.Fatalf("%v, the last of %d times\n%s", err, tries, out)
				}
				t.Logf("%v, once more\n%s", err, out)
			}
		})
	}
}
