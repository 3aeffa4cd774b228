package metrics

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/exporter-toolkit/web"

	"httpgen/sampler/prom"
)

// How long a client may take, whatever it does or leaves undone.
const (
	headerTimeout = 5 * time.Second // to send the head of a request; also of a TLS handshake
	readTimeout   = 10 * time.Second
	gatherTimeout = 5 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute // longer than most scrape intervals: scrapers keep their connection
	closeTimeout  = time.Second     // to take the rest of a reply when the Server closes
)

const (
	maxHeader  = 64 << 10 // bytes
	maxScrapes = 4        // at once
)

// A Server serves the metrics of a process. Its methods may be called by any
// goroutine, but for Start and Close, which may not run at once.
type Server struct {
	o         Options
	addresses []address
	registry  *prometheus.Registry
	collector *prom.Collector
	handler   http.Handler
	scrapes   scrapes
	ready     atomic.Bool
	final     atomic.Uint64 // number of the newest scrape that may lack the final totals

	servers  []*http.Server
	warnings []string
	serving  sync.WaitGroup
	failed   chan error
	ended    chan struct{} // closed when nothing is served any more
}

// New returns a Server that does not listen yet. Addresses that cannot be, and
// a web configuration that cannot be used, are errors.
func New(o Options) (*Server, error) {
	addresses, err := o.validate()
	if err != nil {
		return nil, err
	}
	s := &Server{
		o: o, addresses: addresses, registry: prometheus.NewRegistry(),
		// A listener that dies is told even if nobody listens to Failed; an
		// address has at most two.
		failed: make(chan error, 2*len(addresses)),
		ended:  make(chan struct{}),
	}
	if s.collector, err = prom.New(prom.Options{Version: o.Version}); err != nil {
		return nil, err
	}
	for _, c := range []prometheus.Collector{
		s.collector, &cached{of: []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})}},
	} {
		if err := s.registry.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	if s.handler, err = s.routes(); err != nil {
		return nil, fmt.Errorf("metrics: landing page: %w", err)
	}
	return s, nil
}

// routes returns the handler of all requests.
func (s *Server) routes() (http.Handler, error) {
	metrics := promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            s.registry, // counts the errors
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   true,
		DisableCompression:  true, // takes as long as all the rest, from a processor that a loop may need
	})
	landing, err := web.NewLandingPage(web.LandingConfig{
		Name:        "httpgen",
		Description: "An open-loop HTTP load generator",
		Version:     html.EscapeString(s.o.Version),
		Links: []web.LandingLinks{
			{Address: s.o.Path, Text: "Metrics", Description: "of the run, for Prometheus"},
			{Address: "/-/healthy", Text: "Healthy", Description: "200 as long as this is served"},
			{Address: "/-/ready", Text: "Ready", Description: "200 once the run has begun"},
		},
		Profiling: "false",
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+s.o.Path, s.scrapes.account(http.TimeoutHandler(considerate(metrics), gatherTimeout, "The metrics could not be gathered in time.")))
	mux.Handle("GET /{$}", landing)
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "Healthy.\n")
	})
	mux.HandleFunc("GET /-/ready", func(w http.ResponseWriter, _ *http.Request) {
		if s.ready.Load() {
			io.WriteString(w, "Ready.\n")
		} else {
			http.Error(w, "The run has not begun.", http.StatusServiceUnavailable)
		}
	})
	return mux, nil
}

// Collector returns what the runs of this process are to be attached to.
func (s *Server) Collector() *prom.Collector { return s.collector }

// Registry returns where the metrics are taken from. Collectors may be added.
func (s *Server) Registry() *prometheus.Registry { return s.registry }

// Ready says that the run has begun.
func (s *Server) Ready() { s.ready.Store(true) }

// Start listens at all addresses, or returns an error and listens at none. It
// returns where it listens, and may be called once.
func (s *Server) Start() (addrs []string, err error) {
	var all []net.Listener
	for _, a := range s.addresses {
		some, err := a.listen()
		if err != nil {
			closeAll(all)
			return nil, fmt.Errorf("metrics: %w", err)
		}
		all = append(all, some...)
	}
	var open []string // to other machines
	for _, l := range all {
		addrs = append(addrs, l.Addr().String())
		if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
			open = append(open, l.Addr().String())
		}
	}
	if len(open) > 0 && s.o.ConfigFile == "" {
		s.warnings = append(s.warnings, fmt.Sprintf(
			"metrics: anyone who reaches %s can read them, in the clear: want a web configuration with TLS and users, or a loopback address",
			strings.Join(open, " and ")))
	}
	s.serve(all)
	return addrs, nil
}

// Warnings returns what whoever started the Server should know.
func (s *Server) Warnings() []string { return s.warnings }

// serve serves at all listeners.
func (s *Server) serve(all []net.Listener) {
	quiet := slog.New(slog.DiscardHandler)
	for _, l := range all {
		server := &http.Server{
			Handler:           s.handler,
			ReadHeaderTimeout: headerTimeout,
			ReadTimeout:       readTimeout,
			WriteTimeout:      writeTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeader,
			// In HTTP/2 the write timeout is a stream's, and does not end a
			// connection whose other side reads nothing.
			HTTP2:    &http.HTTP2Config{WriteByteTimeout: writeTimeout},
			ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		}
		s.servers = append(s.servers, server)
		s.serving.Go(func() {
			defer l.Close()
			err := web.Serve(l, server, &web.FlagConfig{WebConfigFile: &s.o.ConfigFile}, quiet)
			if !errors.Is(err, http.ErrServerClosed) {
				s.failed <- fmt.Errorf("metrics: address %q is served no more: %w", l.Addr(), err)
			}
		})
	}
	go func() {
		s.serving.Wait()
		close(s.failed)
		close(s.ended)
	}()
}

// Failed yields why a listener has died, for each one that has. It is closed
// when nothing is served any more.
func (s *Server) Failed() <-chan error { return s.failed }

// Close stops listening, gives replies under way a second to be sent, and cuts
// off what is left.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var closing sync.WaitGroup
	for _, server := range s.servers {
		closing.Go(func() {
			if server.Shutdown(ctx) != nil {
				server.Close()
			}
		})
	}
	closing.Wait()
	s.serving.Wait()
}
