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

// The experiments have an answer in their short forms. They measure: they are run
// one after another, and nothing else may run meanwhile.
func TestExperiments(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "httpgen")
	if out, err := exec.Command("go", "build", "-o", bin, "../cmd/httpgen").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, name := range []string{"apache-behind-haproxy", "proxies", "haproxy-filter-rates", "proportional-share"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, filepath.Join(name, "run"), "--short", bin)
			// The servers of a script that has to be stopped are stopped by it.
			cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
			cmd.WaitDelay = 20 * time.Second
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			switch {
			case errors.As(err, &exit) && exit.ExitCode() == missing:
				t.Skipf("%s", strings.TrimSpace(string(out)))
			case err != nil:
				t.Fatalf("%v: %v\n%s", cmd, err, out)
			}
			t.Logf("%v\n%s", cmd, out)
		})
	}
}
