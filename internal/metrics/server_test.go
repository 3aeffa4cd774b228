package metrics

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/net/http2"
)

func TestLoopback(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"0", ":0"} {
		s := newServer(t, Options{Listen: []string{listen}})
		addrs, err := s.Start()
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(addrs[0])
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"127.0.0.1:" + port}
		if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
			l.Close()
			want = append(want, "[::1]:"+port)
		}
		if !slices.Equal(addrs, want) || port == "0" {
			t.Errorf("%q: listens at %q, want %q", listen, addrs, want)
		}
		if w := s.Warnings(); w != nil {
			t.Errorf("%q: warns of %q", listen, w)
		}
		for _, a := range addrs {
			get(t, newClient(t, nil), "http://"+a+"/metrics")
		}
		if n := s.Scraped(); n != uint64(len(addrs)) {
			t.Errorf("%d scrapes at %q, want one each", n, addrs)
		}
	}
}

func TestTwoListeners(t *testing.T) {
	t.Parallel()
	config := write(t, t.TempDir(), "web.yml", "http_server_config: {headers: {X-Frame-Options: deny}}\n")
	s := newServer(t, Options{Listen: []string{"127.0.0.1:0", "127.0.0.2:0"}, ConfigFile: config})
	addrs, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range addrs {
		if want := []string{"127.0.0.1:", "127.0.0.2:"}[i]; !strings.HasPrefix(a, want) {
			t.Errorf("address %d is %s, want %s...", i, a, want)
		}
		reply, body := do(t, newClient(t, nil), "GET", "http://"+a+"/metrics", nil)
		if !strings.Contains(body, "\nhttpgen_verdict") || !slices.Equal(reply.Header["X-Frame-Options"], []string{"deny"}) {
			t.Errorf("%s: %v, want the header of the configuration; %.200s", a, reply.Header, body)
		}
	}
	s.Close()
	s.Close()
	for _, a := range addrs {
		if c, err := net.Dial("tcp", a); err == nil {
			c.Close()
			t.Errorf("%s is open after Close", a)
		}
	}
	if err, ok := <-s.Failed(); ok {
		t.Errorf("Failed yields %v after Close", err)
	}
}

func TestNoAddress(t *testing.T) {
	t.Parallel()
	s := newServer(t, Options{Version: "1.2.3"})
	if addrs, err := s.Start(); len(addrs) > 0 || err != nil {
		t.Errorf("Start = %q, %v, want none", addrs, err)
	}
	if all, err := s.Registry().Gather(); err != nil || len(all) < 10 {
		t.Errorf("%d families, %v, want all of them", len(all), err)
	}
}

func TestAddressInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr := taken.Addr().String()
	port := addr[strings.LastIndex(addr, ":"):]
	for _, listen := range []string{addr, port} {
		s := newServer(t, Options{Listen: []string{"127.0.0.3" + port, listen}})
		_, err := s.Start()
		if want := `metrics: address "` + listen + `": `; !errors.Is(err, syscall.EADDRINUSE) || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), addr) {
			t.Errorf("Start = %v, want %s..., with %s", err, want, addr)
		}
		if c, err := net.Dial("tcp", "127.0.0.3"+port); err == nil {
			c.Close()
			t.Error("the other address is open, want none")
		}
	}
}

// A port alone is wanted in both families, or not at all.
func TestLoopbackInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return // there is one family
	}
	defer taken.Close()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, Options{Listen: []string{port}})
	if addrs, err := s.Start(); !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), ":"+port) {
		// The port may be in use in the other family too, by somebody else.
		t.Errorf("Start = %q, %v, want %s in use", addrs, err, taken.Addr())
	}
	if n := len(s.servers); n != 0 {
		t.Errorf("%d addresses are served, want none", n)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	config := write(t, t.TempDir(), "web.yml", "{}")
	for _, tt := range []struct {
		listen []string
		config string
		want   []int // the addresses that are warned of
	}{
		{[]string{"127.0.0.1:0"}, "", nil},
		{[]string{"0.0.0.0:0", "127.0.0.1:0", "0.0.0.0:0"}, "", []int{0, 2}},
		{[]string{"0.0.0.0:0"}, config, nil},
	} {
		s := newServer(t, Options{Listen: tt.listen, ConfigFile: tt.config})
		addrs, err := s.Start()
		if err != nil {
			t.Fatal(err)
		}
		for i, addr := range addrs {
			if host, _, _ := net.SplitHostPort(tt.listen[i]); !strings.HasPrefix(addr, host+":") {
				t.Errorf("%q: listens at %s, want the host that was given", tt.listen, addr)
			}
		}
		var open, want []string
		for _, i := range tt.want {
			open = append(open, addrs[i])
		}
		if open != nil {
			want = []string{"metrics: anyone who reaches " + strings.Join(open, " and ") +
				" can read them, in the clear: want a web configuration with TLS and users, or a loopback address"}
		}
		if got := s.Warnings(); !slices.Equal(got, want) {
			t.Errorf("%q: warns of %q, want %q", tt.listen, got, want)
		}
	}
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	hash, err := bcrypt.GenerateFromPassword([]byte("correct"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	config := write(t, t.TempDir(), "web.yml", fmt.Sprintf("basic_auth_users: {prometheus: %q}\n", hash))
	s, addr := start(t, Options{ConfigFile: config})
	c := newClient(t, nil)
	for _, tt := range []struct {
		name           string
		user, password string
		want           int
	}{
		{"none", "", "", 401},
		{"wrong password", "prometheus", "wrong", 401},
		{"wrong user", "admin", "correct", 401},
		{"right", "prometheus", "correct", 200},
	} {
		for _, page := range []string{"/metrics", "/", "/-/healthy"} {
			reply, body := do(t, c, "GET", "http://"+addr+page, func(r *http.Request) {
				if tt.user != "" {
					r.SetBasicAuth(tt.user, tt.password)
				}
			})
			if reply.StatusCode != tt.want {
				t.Errorf("%s: status %d of %s, want %d", tt.name, reply.StatusCode, page, tt.want)
			}
			if tt.want == 401 && (body != "Unauthorized\n" || reply.Header.Get("WWW-Authenticate") != "Basic") {
				t.Errorf("%s: %v %q of %s, want nothing but a demand", tt.name, reply.Header, body, page)
			}
		}
	}
	if n := s.Scraped(); n != 1 {
		t.Errorf("%d scrapes, want 1", n)
	}
	// The file is read anew for each request.
	write(t, config[:strings.LastIndex(config, "/")], "web.yml", "basic_auth_users: nonsense\n")
	reply, body := do(t, c, "GET", "http://"+addr+"/metrics", nil)
	if reply.StatusCode != 500 || strings.Contains(body, "httpgen_") {
		t.Errorf("with a broken configuration: status %d, %.200q, want 500 and no metrics", reply.StatusCode, body)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	old, renewed := newKeyPair(t, "old"), newKeyPair(t, "renewed")
	config := tlsFiles(t, old)
	s, addr := start(t, Options{ConfigFile: config})
	reply, body := do(t, newClient(t, trust(old)), "GET", "https://"+addr+"/metrics", nil)
	if reply.StatusCode != 200 || !strings.Contains(body, "\nhttpgen_verdict") || reply.ProtoMajor != 2 {
		t.Errorf("status %d, HTTP/%d; %.200s; want metrics in HTTP/2", reply.StatusCode, reply.ProtoMajor, body)
	}
	if n := s.Scraped(); n != 1 {
		t.Errorf("%d scrapes, want 1", n)
	}
	for _, page := range []string{"/metrics", "/", "/-/healthy"} {
		reply, body := do(t, newClient(t, nil), "GET", "http://"+addr+page, nil)
		if reply.StatusCode != 400 || strings.Contains(body, "httpgen") || len(reply.Header) > 1 {
			t.Errorf("in the clear: status %d, %v, %.200q of %s, want 400 and nothing else", reply.StatusCode, reply.Header, body, page)
		}
	}
	if n := s.Scraped(); n != 1 {
		t.Errorf("%d scrapes, want still 1", n)
	}
	tlsDir := config[:strings.LastIndex(config, "/")]
	write(t, tlsDir, "cert.pem", renewed.cert)
	write(t, tlsDir, "key.pem", renewed.key)
	get(t, newClient(t, trust(renewed)), "https://"+addr+"/metrics")
}

func TestClientCertificates(t *testing.T) {
	t.Parallel()
	server, good, bad := newKeyPair(t, "server"), newKeyPair(t, "good"), newKeyPair(t, "bad")
	config := tlsFiles(t, server, "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: client.pem\n")
	write(t, config[:strings.LastIndex(config, "/")], "client.pem", good.cert)
	s, addr := start(t, Options{ConfigFile: config})
	for _, tt := range []struct {
		name string
		pair *keyPair
		ok   bool
	}{{"none", nil, false}, {"unknown", &bad, false}, {"known", &good, true}} {
		c := trust(server)
		if tt.pair != nil {
			cert, err := tls.X509KeyPair([]byte(tt.pair.cert), []byte(tt.pair.key))
			if err != nil {
				t.Fatal(err)
			}
			c.Certificates = []tls.Certificate{cert}
		}
		reply, err := newClient(t, c).Get("https://" + addr + "/metrics")
		if err == nil {
			if _, err := io.Copy(io.Discard, reply.Body); err != nil {
				t.Error(err)
			}
			reply.Body.Close()
		}
		if (err == nil) != tt.ok {
			t.Errorf("%s certificate: %v, want it taken: %v", tt.name, err, tt.ok)
		}
	}
	if n := s.Scraped(); n != 1 {
		t.Errorf("%d scrapes, want 1", n)
	}
}

func TestConfigurationThatVanishes(t *testing.T) {
	t.Parallel()
	s := newServer(t, Options{Listen: []string{"127.0.0.1:0"}, ConfigFile: tlsFiles(t, newKeyPair(t, "a"))})
	if err := os.Remove(s.o.ConfigFile); err != nil {
		t.Fatal(err)
	}
	addrs, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := <-s.Failed(); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), addrs[0]) {
		t.Errorf("Failed yields %v, want it to name %s", err, addrs[0])
	}
	if c, err := net.Dial("tcp", addrs[0]); err == nil {
		c.Close()
		t.Error("the address is open, want it closed")
	}
}

// families reads a scrape in whatever format it is.
func families(t *testing.T, format expfmt.Format, body string) map[string]*dto.MetricFamily {
	t.Helper()
	all := map[string]*dto.MetricFamily{}
	for d := expfmt.NewDecoder(strings.NewReader(body), format); ; {
		var f dto.MetricFamily
		err := d.Decode(&f)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		all[f.GetName()] = &f
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	_, addr := start(t, Options{Version: "1.2.3"})
	c := newClient(t, nil)
	for _, tt := range []struct {
		name, accept, want string
		has                string // in the body
	}{
		{"text", "", "text/plain; version=0.0.4; charset=utf-8; escaping=", "# TYPE httpgen_label_overflow_total counter\n"},
		{"OpenMetrics", "application/openmetrics-text;version=1.0.0", "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=", "# TYPE httpgen_label_overflow counter\n"},
		{"protobuf", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited", "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited; escaping=", "httpgen_label_overflow_total"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reply, body := do(t, c, "GET", "http://"+addr+"/metrics", func(r *http.Request) { r.Header.Set("Accept", tt.accept) })
			if got := reply.Header.Get("Content-Type"); reply.StatusCode != 200 || !strings.HasPrefix(got, tt.want) {
				t.Fatalf("status %d, content type %q, want %s...", reply.StatusCode, got, tt.want)
			}
			if !strings.Contains(body, tt.has) || strings.HasSuffix(body, "# EOF\n") != (tt.name == "OpenMetrics") {
				t.Errorf("want %q, and an end if the format has one, in %s", tt.has, body)
			}
			if tt.name == "OpenMetrics" {
				return // which nothing here can read
			}
			all := families(t, expfmt.ResponseFormat(reply.Header), body)
			for name, kind := range map[string]dto.MetricType{
				"httpgen_build_info":                   dto.MetricType_GAUGE,
				"httpgen_verdict":                      dto.MetricType_GAUGE,
				"httpgen_label_overflow_total":         dto.MetricType_COUNTER,
				"go_goroutines":                        dto.MetricType_GAUGE,
				"process_open_fds":                     dto.MetricType_GAUGE,
				"promhttp_metric_handler_errors_total": dto.MetricType_COUNTER,
			} {
				if f := all[name]; f == nil || f.GetType() != kind || len(f.Metric) == 0 {
					t.Errorf("%s is %v, want a %v", name, f, kind)
				}
			}
			var version string
			for _, l := range all["httpgen_build_info"].GetMetric()[0].Label {
				if l.GetName() == "version" {
					version = l.GetValue()
				}
			}
			if version != "1.2.3" {
				t.Errorf("version %q, want 1.2.3", version)
			}
			for _, m := range all["promhttp_metric_handler_errors_total"].GetMetric() {
				if m.Counter.GetValue() != 0 {
					t.Errorf("errors: %v, want none", m)
				}
			}
			if n := all["process_open_fds"].GetMetric()[0].Gauge.GetValue(); n < 3 {
				t.Errorf("%v open descriptors, want more", n)
			}
		})
	}
}

func TestPromtool(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool here")
	}
	_, addr := start(t, Options{})
	body := get(t, newClient(t, nil), "http://"+addr+"/metrics")
	cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(body)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	s, addr := start(t, Options{Path: "/of/the/run", Version: "1<2"})
	c := newClient(t, nil)
	page := func(method, path string, status int, want ...string) {
		t.Helper()
		reply, body := do(t, c, method, "http://"+addr+path, nil)
		if reply.StatusCode != status {
			t.Errorf("%s %s: status %d, want %d", method, path, reply.StatusCode, status)
		}
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s %s: want %q in %s", method, path, w, body)
			}
		}
	}
	page("GET", "/", 200, "<title>httpgen</title>", "Version: 1&lt;2<",
		`<a href="/of/the/run">Metrics</a>`, `<a href="/-/healthy">Healthy</a>`, `<a href="/-/ready">Ready</a>`)
	if body := get(t, c, "http://"+addr+"/"); strings.Contains(body, "debug/pprof") {
		t.Errorf("the landing page offers a profile: %s", body)
	}
	page("GET", "/of/the/run", 200, "httpgen_build_info")
	page("GET", "/of/the/run?name[]=httpgen_loops", 200, "\nhttpgen_loops 0\n")
	page("GET", "/-/healthy", 200, "Healthy.\n")
	page("HEAD", "/-/healthy", 200)
	page("GET", "/-/ready", 503, "The run has not begun.\n")
	s.Ready()
	page("GET", "/-/ready", 200, "Ready.\n")
	page("GET", "/metrics", 404)
	page("GET", "/of/the/run/", 404)
	page("GET", "/-/quit", 404)
	page("PUT", "/-/quit", 404)
	page("POST", "/-/reload", 404)
	page("GET", "/debug/pprof/", 404)
	page("POST", "/of/the/run", 405)
	page("DELETE", "/-/ready", 405)
}

// A gate is a collector that holds scrapes up.
type gate struct{ come, let chan struct{} }

func (gate) Describe(chan<- *prometheus.Desc) {}

func (g gate) Collect(chan<- prometheus.Metric) {
	g.come <- struct{}{}
	<-g.let
}

func TestScrapesAtOnce(t *testing.T) {
	t.Parallel()
	s, addr := start(t, Options{})
	g := gate{make(chan struct{}), make(chan struct{})}
	if err := s.Registry().Register(g); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, nil)
	var scrapers sync.WaitGroup
	for range maxScrapes {
		scrapers.Go(func() {
			r, err := c.Get("http://" + addr + "/metrics")
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Body.Close()
			if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != 200 {
				t.Errorf("status %d, %v, want 200", r.StatusCode, err)
			}
		})
		<-g.come
	}
	if reply, body := do(t, c, "GET", "http://"+addr+"/metrics", nil); reply.StatusCode != 503 {
		t.Errorf("status %d with %d under way, want 503; %.100s", reply.StatusCode, maxScrapes, body)
	}
	if n := s.Scraped(); n != 0 {
		t.Errorf("%d scrapes, want none yet", n)
	}
	close(g.let)
	scrapers.Wait()
	if n := s.Scraped(); n != maxScrapes {
		t.Errorf("%d scrapes, want %d", n, maxScrapes)
	}
}

// Scrapers that read nothing hold nobody up, and Close least of all.
func TestScraperThatHangs(t *testing.T) {
	t.Parallel()
	s, addr := start(t, Options{})
	body := get(t, newClient(t, nil), "http://"+addr+"/metrics")
	// Replies that neither kernel has room for: 64 MiB of them.
	many := 64<<20/len(body) + 1
	const hanging = maxScrapes + 1
	for range hanging {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go io.WriteString(c, strings.Repeat(scrapeText, many))
	}
	silent, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c := newClient(t, nil)
	for range 20 {
		// Those that hang may all be at the limit for a moment, as long as they
		// have room to be answered.
		for {
			reply, _ := do(t, c, "GET", "http://"+addr+"/metrics", nil)
			if reply.StatusCode == 200 {
				break
			}
			if reply.StatusCode != 503 {
				t.Fatalf("status %d, want 200 or 503", reply.StatusCode)
			}
		}
	}
	s.Close()
	if n := s.Scraped(); n >= uint64(hanging*many) {
		t.Errorf("%d scrapes are complete: none hung", n)
	}
}

// handshake returns a connection with TLS over c that speaks proto.
func handshake(t *testing.T, c net.Conn, pair keyPair, proto string) net.Conn {
	t.Helper()
	o := trust(pair)
	o.ServerName, o.NextProtos = "127.0.0.1", []string{proto}
	secure := tls.Client(c, o)
	if err := secure.Handshake(); err != nil {
		t.Fatal(err)
	}
	return secure
}

// send sends text over c, and returns once the server has read it.
func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

const scrapeText = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"

// A client may take its time, but no more than that.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	// farewell is how long crypto/tls tries to send its last alert.
	const farewell = 5 * time.Second
	pair := newKeyPair(t, "server")
	config := tlsFiles(t, pair)
	healthy := func(t *testing.T, c net.Conn) {
		t.Helper()
		send(t, c, "GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
		reply, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(reply.Body); string(b) != "Healthy.\n" || err != nil {
			t.Fatalf("%q, %v, want Healthy.", b, err)
		}
		go io.Copy(io.Discard, c)
	}
	for _, tt := range []struct {
		name   string
		secure string                         // protocol within TLS; none: in the clear
		client func(t *testing.T, c net.Conn) // until it does nothing more, or only reads
		want   time.Duration
	}{
		{"silent", "", func(*testing.T, net.Conn) {}, headerTimeout},
		{"half a head", "", func(t *testing.T, c net.Conn) {
			send(t, c, scrapeText[:9])
			go io.Copy(io.Discard, c)
		}, headerTimeout},
		{"half a body", "", func(t *testing.T, c net.Conn) {
			send(t, c, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx")
			go io.Copy(io.Discard, c)
		}, readTimeout},
		{"does not read", "", func(t *testing.T, c net.Conn) { send(t, c, scrapeText) }, writeTimeout},
		{"idle", "", healthy, idleTimeout},
		{"silent within TLS", "http/1.1", func(_ *testing.T, c net.Conn) { go io.Copy(io.Discard, c) }, headerTimeout},
		{"idle within TLS", "http/1.1", healthy, idleTimeout},
		{"does not read within TLS", "http/1.1", func(t *testing.T, c net.Conn) {
			go io.WriteString(c, scrapeText)
			io.ReadFull(c, make([]byte, 1)) // also what belongs to the handshake
		}, writeTimeout + farewell},
		{"does not read in HTTP/2", "h2", func(t *testing.T, c net.Conn) {
			send(t, c, http2.ClientPreface)
			f := http2.NewFramer(c, c)
			if err := f.WriteSettings(); err != nil {
				t.Fatal(err)
			}
			if _, err := f.ReadFrame(); err != nil {
				t.Fatal(err)
			}
		}, writeTimeout + farewell},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := Options{}
				if tt.secure != "" {
					o.ConfigFile = config
				}
				s := newServer(t, o)
				l := newPipes(net.ErrClosed)
				s.serve([]net.Listener{l})
				c, closed := l.dial()
				defer c.Close()
				from := time.Now()
				if tt.secure != "" {
					tt.client(t, handshake(t, c, pair, tt.secure))
				} else {
					tt.client(t, c)
				}
				<-closed
				if got := time.Since(from); got != tt.want {
					t.Errorf("ended after %v, want %v", got, tt.want)
				}
				if n := s.Scraped(); n != 0 {
					t.Errorf("%d scrapes, want none", n)
				}
			})
		})
	}
}

func TestSilentInsteadOfTLS(t *testing.T) {
	t.Parallel()
	config := tlsFiles(t, newKeyPair(t, "server"))
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{ConfigFile: config})
		l := newPipes(net.ErrClosed)
		s.serve([]net.Listener{l})
		c, closed := l.dial()
		defer c.Close()
		from := time.Now()
		<-closed
		if got := time.Since(from); got != headerTimeout {
			t.Errorf("ended after %v, want %v", got, headerTimeout)
		}
	})
}

// Close waits for replies, but not for those that are not read.
func TestClose(t *testing.T) {
	t.Parallel()
	pair := newKeyPair(t, "server")
	config := tlsFiles(t, pair)
	for _, tt := range []struct {
		name   string
		secure bool
		client func(t *testing.T, c net.Conn)
		want   time.Duration
	}{
		{"nobody", false, nil, 0},
		{"silent", false, func(*testing.T, net.Conn) {}, closeTimeout},
		{"does not read", false, func(t *testing.T, c net.Conn) { send(t, c, scrapeText) }, closeTimeout},
		{"does not read within TLS", true, func(t *testing.T, c net.Conn) {
			go io.WriteString(c, scrapeText)
			io.ReadFull(c, make([]byte, 1))
		}, closeTimeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := Options{}
				if tt.secure {
					o.ConfigFile = config
				}
				s := newServer(t, o)
				l := newPipes(net.ErrClosed)
				s.serve([]net.Listener{l})
				if tt.client != nil {
					c, _ := l.dial()
					defer c.Close()
					if tt.secure {
						c = handshake(t, c, pair, "http/1.1")
					}
					tt.client(t, c)
				}
				synctest.Wait()
				from := time.Now()
				s.Close()
				if got := time.Since(from); got != tt.want {
					t.Errorf("Close took %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// A reply under way is sent whole before Close returns.
func TestCloseSendsTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		l := newPipes(net.ErrClosed)
		s.serve([]net.Listener{l})
		c, _ := l.dial()
		defer c.Close()
		send(t, c, scrapeText)
		// A request that is not under way yet may be left without a reply.
		synctest.Wait()
		closed := make(chan struct{})
		go func() {
			s.Close()
			close(closed)
		}()
		synctest.Wait()
		reply, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(reply.Body); err != nil || !strings.Contains(string(b), "\nhttpgen_verdict") {
			t.Errorf("%v, %.200q, want the metrics", err, b)
		}
		<-closed
		if n := s.Scraped(); n != 1 {
			t.Errorf("%d scrapes, want 1", n)
		}
	})
}

func TestHeadIsBounded(t *testing.T) {
	t.Parallel()
	_, addr := start(t, Options{})
	c := newClient(t, nil)
	for _, tt := range []struct {
		name string
		size int
		want int
	}{{"large", maxHeader / 2, 200}, {"too large", 2 * maxHeader, 431}} {
		reply, _ := do(t, c, "GET", "http://"+addr+"/metrics", func(r *http.Request) { r.Header.Set("X", strings.Repeat("x", tt.size)) })
		if reply.StatusCode != tt.want {
			t.Errorf("%s: status %d with %d bytes, want %d", tt.name, reply.StatusCode, tt.size, tt.want)
		}
	}
}
