package run

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"httpgen/internal/accesslog"
)

// A log that changes under way ends the run, whose result says so.
func TestBrokenReplay(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "log")
	line := `127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /x HTTP/1.1" 200 5` + "\n"
	if err := os.WriteFile(name, []byte(strings.Repeat(line, 2000)), 0o644); err != nil {
		t.Fatal(err)
	}
	log, err := accesslog.Open(name, accesslog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := os.WriteFile(name, []byte(strings.Repeat("#", len(line)*2000)), 0o644); err != nil {
		t.Fatal(err)
	}
	host, port := server(t, hello)
	r, err := New(Options{Server: host, Port: port, Log: log, From: name, Closed: 2, NumConns: 100})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Do(context.Background())
	if err == nil || res == nil {
		t.Fatalf("Do = %v, %v: want a result and an error", res, err)
	}
	if res.Run.Complete || res.Run.StopReason != "error" || res.Verdict.Status != "invalid" || res.Totals.Replies != 0 {
		t.Errorf("complete %v, stopped by %q, verdict %s, %d replies: want false, error, invalid, 0", res.Run.Complete, res.Run.StopReason, res.Verdict.Status, res.Totals.Replies)
	}
}
