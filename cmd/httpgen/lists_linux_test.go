package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"httpgen/internal/report"
)

// recorder starts a server and returns its port, and a function that returns and
// forgets what it was asked for.
func recorder(t *testing.T) (port int, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var uris []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		uris = append(uris, r.RequestURI)
		mu.Unlock()
		w.Write([]byte("hello"))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().(*net.TCPAddr).Port, func() []string {
		mu.Lock()
		defer mu.Unlock()
		all := uris
		uris = nil
		return all
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"lines": "/a\n\n/b?c\n/d\n", "nuls": "/a\x00/b?c\x00/d\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args string
		want string // by time, or sorted where calls overtake each other
		conn uint64
	}{
		{"--wlog y,lines -n 5", "/a /b?c /d /a /b?c", 5},
		{"--wlog=y,nuls -n 2 --num-calls 4", "/a /b?c /d /a /b?c /d /a /b?c", 2},
		{"--wlog n,nuls -n 100", "/a /b?c /d", 3},
		{"--wlog n,lines -n 100 --num-calls 2", "/a /b?c /d", 2},
		{"--wlog n,lines", "/a", 1},
		{"--wlog n,lines --runtime 3600 --num-calls 2", "/a /b?c /d", 2},
		{"--wlog n,lines --rate 100 --runtime 3600", "/a /b?c /d", 3},
		{"--wlog n,lines --rate 100 -n 7 --workers 2", "/a /b?c /d", 3},
		{"--wlog y,lines --rate 100 -n 4 -c 2", "/a /a /b?c /d", 4},
		{"--wset 1000,0.5 --uri /ok/ -n 4", "/ok/0/0/0.html /ok/0/0/1.html /ok/0/0/1.html /ok/0/0/2.html", 4},
		{"--wset 1,1 -n 2", "/0.html /0.html", 2},
		{"--wset 10,1 --client 1/3 -n 2 --num-calls 2", "/4.html /7.html /0.html /3.html", 2},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			port, asked := recorder(t)
			args := strings.Fields(tt.args)
			for i, arg := range args {
				for _, name := range []string{"lines", "nuls"} {
					if list, ok := strings.CutSuffix(arg, ","+name); ok {
						args[i] = list + "," + filepath.Join(dir, name)
					}
				}
			}
			r := measure(t, append(args, "--server", "127.0.0.1", "--port", fmt.Sprint(port))...)
			have := asked()
			if strings.Contains(tt.args, "--rate") {
				slices.Sort(have)
			}
			if got := strings.Join(have, " "); got != tt.want {
				t.Errorf("asked for %s; want %s", got, tt.want)
			}
			if n := &r.Totals; n.Completed != tt.conn || n.Replies != uint64(len(have)) || n.LostCalls != 0 {
				t.Errorf("%d arrivals, %d replies, %d calls lost; want %d, %d, none", n.Completed, n.Replies, n.LostCalls, tt.conn, len(have))
			}
		})
	}
}

// The result says what was asked for.
func TestListsConfig(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args string // of files in the folder, with @ in front
		want report.Workload
	}{
		{"", report.Workload{Kind: "calls", Servers: 1}},
		{"--wlog y,@list", report.Workload{Kind: "list", File: "list", Entries: 2, Servers: 1}},
		{"--wlog n,@list", report.Workload{Kind: "list", File: "list", Entries: 2, Once: true, Servers: 1}},
		{"--wset 10,0.25", report.Workload{Kind: "working_set", Entries: 10, Step: 0.25, Servers: 1}},
		{"--wsess 2,2,0", report.Workload{Kind: "calls", Sessions: true, Servers: 1}},
		{"--wsess 2,2,0 --wset 10,1", report.Workload{Kind: "working_set", Entries: 10, Step: 1, Sessions: true, Servers: 1}},
		{"--wsess 2,2,0 --wlog n,@list", report.Workload{Kind: "list", File: "list", Entries: 2, Once: true, Sessions: true, Servers: 1}},
		{"--wsesspage 2,2,0", report.Workload{Kind: "pages", Sessions: true, Servers: 1}},
		{"--wsesslog 2,0,testdata/three.session", report.Workload{Kind: "script", File: "testdata/three.session", Entries: 3, Sessions: true, Servers: 1}},
		{"--targets @targets", report.Workload{Kind: "requests", File: "targets", Entries: 1, Servers: 1}},
		{"--har @archive", report.Workload{Kind: "requests", File: "archive", Entries: 1, Once: true, Servers: 1}},
		{"--access-log testdata/three.log --speed 100", report.Workload{Kind: "log", File: "testdata/three.log", Entries: 3, Servers: 1}},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			port, _ := recorder(t)
			archive := fmt.Sprintf(`{"log":{"entries":[{"startedDateTime":"2030-01-02T03:04:05Z","request":{"method":"GET","url":"http://127.0.0.1:%d/a","headers":[]}}]}}`, port)
			dir := inFolder(t, map[string]string{"list": "/a\n/b\n", "targets": "GET /a\n", "archive": archive})
			args := append(strings.Fields(strings.ReplaceAll(tt.args, "@", dir+"/")), "--server", "127.0.0.1", "--port", fmt.Sprint(port))
			have := measure(t, args...).Config.Workload
			have.File = strings.TrimPrefix(have.File, dir+"/")
			if have != tt.want {
				t.Errorf("have %+v, want %+v", have, tt.want)
			}
		})
	}
}

// What httperf itself asks for, where it is installed. A prefix that ends with a
// slash, of which it drops the first character, and a set of one file, for which
// it asks without a number, are left out.
func TestListsAsHttperf(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("httperf")
	if err != nil {
		t.Skip("httperf is not installed: apt-get install httperf")
	}
	list := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(list, []byte("/a\x00/b\x00/c\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"--wlog y,LIST --num-conns 7",
		"--wlog y,LIST --num-conns 3 --num-calls 5",
		"--wlog n,LIST --num-conns 2",
		"--wset 10,0 --num-conns 6",
		"--wset 10,0 --num-conns 6 --client 1/3",
		"--wset 10,0.25 --num-conns 45",
		"--wset 10,0.25 --num-conns 45 --client 1/3",
		"--wset 10,1 --num-conns 25 --client 2/3",
		"--wset 100,1 --num-conns 3 --num-calls 50",
		"--wset 100,0.3 --num-conns 3 --num-calls 50 --client 4/7",
		"--wset 101,0.1 --num-conns 1 --num-calls 1200 --uri /some/where",
		"--wset 1000,0.29 --num-conns 1 --num-calls 900",
		"--wset 1000,1 --num-conns 12 --client 11/12",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			port, asked := recorder(t)
			line := append(strings.Fields(strings.ReplaceAll(args, "LIST", list)), "--server", "127.0.0.1", "--port", fmt.Sprint(port), "--timeout", "20")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if out, err := exec.CommandContext(ctx, path, line...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want := asked()
			measure(t, line...)
			if have := asked(); len(want) == 0 || !slices.Equal(have, want) {
				t.Errorf("asked for\n%v, httperf for\n%v", have, want)
			}
		})
	}
}
