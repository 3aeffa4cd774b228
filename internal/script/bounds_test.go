//go:build !race

package script

import (
	"bytes"
	"testing"
)

func TestParseSessionsBounds(t *testing.T) {
	t.Parallel()
	_, err := ParseSessions("f", bytes.Repeat([]byte("/\n\n"), maxRequests+1), nil)
	wantError(t, "sessions", err, "f:2097153:1: more than 1048576 requests: want fewer")
}

func TestParseTargetsBounds(t *testing.T) {
	t.Parallel()
	_, err := ParseTargets("f", bytes.Repeat([]byte("/\n"), maxRequests+1), nil)
	wantError(t, "targets", err, "f:1048577:1: more than 1048576 targets: want fewer")
}

func TestParseServersBounds(t *testing.T) {
	t.Parallel()
	_, err := ParseServers("f", bytes.Repeat([]byte("a\n"), maxServers+1))
	wantError(t, "servers", err, "f:1048577:1: more than 1048576 servers: want fewer")
}
