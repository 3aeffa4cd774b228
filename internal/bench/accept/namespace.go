package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"httpgen/internal/bench/lab"
)

// namespaces returns why no network namespace can be made and changed here;
// empty when it can.
func namespaces(ctx context.Context, b *bench) string {
	for _, name := range []string{"unshare", "nsenter", "ip"} {
		if _, err := exec.LookPath(name); err != nil {
			return name + " is not installed"
		}
	}
	o, err := lab.Run(ctx, lab.ServerCore, 10*time.Second, "unshare", "--net", "sh", "-c", narrow, "sh", "true")
	switch {
	case err != nil:
		return err.Error()
	case o.Code != 0:
		return "network namespaces are not permitted: " + strings.TrimSpace(o.Stderr)
	}
	return ""
}

// generateIn runs httpgen in the network namespace of a process.
func (b *bench) generateIn(ctx context.Context, pid int, flags ...string) (*lab.Report, error) {
	argv := append([]string{"nsenter", "--net", "--target", strconv.Itoa(pid), "--"}, b.JSON(flags...)...)
	o, err := lab.Run(ctx, lab.ClientCore, time.Minute, argv...)
	if err != nil {
		return nil, fmt.Errorf("in the namespace of %d: %w", pid, err)
	}
	return lab.Decode(o)
}
