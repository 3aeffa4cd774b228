package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// longest is how long a server may live that nobody stops.
const longest = time.Hour

// startup is how long a server may take to answer.
const startup = 10 * time.Second

// A Server is a server in a process of its own, on ServerCore.
type Server struct {
	Host string
	Port int
	Path string // of the page that is asked for
	p    *Process
}

// Addr returns host and port.
func (s *Server) Addr() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// URL returns the address of the page.
func (s *Server) URL() string { return "http://" + s.Addr() + s.Path }

// Flags returns the flags that send httpgen or httperf to the page.
func (s *Server) Flags() []string {
	return []string{"--server", s.Host, "--port", strconv.Itoa(s.Port), "--uri", s.Path}
}

// PID returns the identifier of the server's process.
func (s *Server) PID() int { return s.p.PID() }

// Stop ends the server and returns what it printed.
func (s *Server) Stop() (string, error) {
	if err := s.p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return "", err
	}
	o, err := s.p.Wait()
	if err != nil {
		return "", err
	}
	return o.Stdout, nil
}

const nginxConf = `worker_processes 1; worker_cpu_affinity 01; daemon off; pid %[1]s/nginx.pid; error_log %[1]s/nginx.err; worker_rlimit_nofile 20000;
events { worker_connections 16000; }
http { access_log off; keepalive_requests 100000000;
client_body_temp_path %[1]s/t; proxy_temp_path %[1]s/t; fastcgi_temp_path %[1]s/t; uwsgi_temp_path %[1]s/t; scgi_temp_path %[1]s/t;
server { listen 127.0.0.1:%[2]d backlog=16384; root %[1]s/www; } }
`

// Nginx starts nginx with one worker and a page of 771 bytes.
func (b *Bench) Nginx(ctx context.Context) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &Server{Host: "127.0.0.1", Port: port, Path: "/test.html"}
	if err := os.MkdirAll(b.Path("www"), 0o755); err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	for name, text := range map[string]string{
		"www/test.html": strings.Repeat("x", 771),
		"nginx.conf":    fmt.Sprintf(nginxConf, b.Dir, port),
	} {
		if err := os.WriteFile(b.Path(name), []byte(text), 0o644); err != nil {
			return nil, fmt.Errorf("lab: %w", err)
		}
	}
	if s.p, err = Start(ctx, "timeout", "-k", "2", strconv.Itoa(int(longest.Seconds())), "nginx", "-c", b.Path("nginx.conf")); err != nil {
		return nil, err
	}
	if err := s.answers(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%w: %s", err, lastLine(s.p.stderr.String()))
	}
	return s, nil
}

// answers waits until the page is there.
func (s *Server) answers(ctx context.Context) error {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for end := time.Now().Add(startup); ; {
		r, err := client.Get(s.URL())
		if err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(r.Status)
		}
		if time.Now().After(end) {
			return fmt.Errorf("lab: %s does not answer: %w", s.URL(), err)
		}
		if err := Pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// freePort returns a port that nobody listens on now.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("lab: a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

var servedAt = regexp.MustCompile(`http://127\.0\.0\.1:(\d+)/`)

// Serve starts the built-in server with those flags, behind the command prefix
// if there is one. It ends by itself after a while.
func (b *Bench) Serve(ctx context.Context, prefix []string, flags ...string) (*Server, error) {
	argv := append(append([]string{}, prefix...), b.Httpgen, "serve", "--listen", "127.0.0.1:0", "--for", strconv.Itoa(int(longest.Seconds())))
	p, err := StartPinned(ctx, ServerCore, append(argv, flags...)...)
	if err != nil {
		return nil, err
	}
	s := &Server{Host: "127.0.0.1", Path: "/", p: p}
	late := time.NewTimer(startup)
	defer late.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if m := servedAt.FindStringSubmatch(p.stderr.String()); m != nil {
			s.Port, err = strconv.Atoi(m[1])
			return s, err
		}
		select {
		case <-tick.C:
			continue
		case <-p.Done():
		case <-late.C:
		case <-ctx.Done():
		}
		s.Stop()
		return nil, fmt.Errorf("lab: the built-in server does not start: %s", lastLine(p.stderr.String()))
	}
}
