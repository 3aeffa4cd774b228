package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// The cores of the two sides.
const (
	ServerCore = 0
	ClientCore = 1
)

// A Bench is a scratch folder with the programs that are measured.
type Bench struct {
	Dir     string // scratch; Close removes it
	Httpgen string // path of the program
	Bare    string // path of the bare loop
}

// Missing returns why nothing can be measured here; empty when it can.
func Missing() string {
	if n := runtime.NumCPU(); n < 2 {
		return fmt.Sprintf("%d core: the server and the generator need one each", n)
	}
	for _, name := range []string{"taskset", "timeout", "nginx", "go"} {
		if _, err := exec.LookPath(name); err != nil {
			return name + " is not installed"
		}
	}
	return ""
}

// New builds the programs. The working directory must be inside the module.
func New(ctx context.Context) (*Bench, error) {
	dir, err := os.MkdirTemp("", "httpgen-bench-")
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	b := &Bench{Dir: dir, Httpgen: filepath.Join(dir, "httpgen"), Bare: filepath.Join(dir, "bare")}
	// nginx's worker runs as another user, who must be able to read its pages.
	err = os.Chmod(dir, 0o755)
	for _, p := range []struct{ path, pkg string }{
		{b.Httpgen, "httpgen/cmd/httpgen"},
		{b.Bare, "httpgen/internal/bench/bare"},
	} {
		if err != nil {
			break
		}
		var out []byte
		if out, err = exec.CommandContext(ctx, "go", "build", "-o", p.path, p.pkg).CombinedOutput(); err != nil {
			err = fmt.Errorf("lab: build %s: %w\n%s", p.pkg, err, out)
		}
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close removes the scratch folder.
func (b *Bench) Close() { os.RemoveAll(b.Dir) }

// Path returns the path of a scratch file of that name.
func (b *Bench) Path(name string) string { return filepath.Join(b.Dir, name) }

// Pause waits for d. It returns the cause when ctx ends first.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
