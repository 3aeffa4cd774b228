package run

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// ports describes the local ports that connections to one target can use.
type ports struct {
	n        int           // ports a source address has
	loopback time.Duration // until a closed connection's port to a loopback target is free again
	remote   time.Duration // the same for any other target
}

// timeWait is how long Linux keeps a closed connection; it cannot be changed.
const timeWait = 60 * time.Second

// localPorts reads the system's settings. Where they cannot be read, those of
// a stock Linux are taken.
func localPorts(hog bool) ports {
	low, high := 32768, 60999
	scan("/proc/sys/net/ipv4/ip_local_port_range", &low, &high)
	p := ports{n: high - low + 1, loopback: timeWait, remote: timeWait}
	if hog {
		p.n = 65535 - 1024 + 1
	}
	reuse, delay := 2, 1000
	scan("/proc/sys/net/ipv4/tcp_tw_reuse", &reuse)
	scan("/proc/sys/net/ipv4/tcp_tw_reuse_delay", &delay)
	if hog {
		return p // a port that is chosen here is not reused while it lingers
	}
	if reuse >= 1 {
		p.loopback = time.Duration(delay) * time.Millisecond
	}
	if reuse == 1 {
		p.remote = p.loopback
	}
	return p
}

func scan(file string, values ...any) {
	b, err := os.ReadFile(file)
	if err != nil {
		return
	}
	// What does not parse keeps its default.
	fmt.Sscan(string(b), values...)
}

// kernel returns the kernel's release, empty when it is unknown.
func kernel() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
