package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"httpgen/client"
	"httpgen/internal/run"
	"httpgen/pacer"
)

// runCmd is the command run. A field left zero was not given.
type runCmd struct {
	URL string `arg:"" optional:"" name:"URL" help:"Where the load goes: http://HOST[:PORT][/PATH][?QUERY], or https. --server, --port and --uri say the same."`

	Rate        rate   `group:"load" short:"r" aliases:"R" lastwins:"pace" placeholder:"RATE" help:"Arrivals per second: 2000, 2000/s, 6000/1m, 0.5; poisson:500; uniform:5ms,15ms; a ramp 100..5000@60s; steps 100:10s,200:10s; trace:FILE (a line an arrival, seconds from the start). An arrival is a new connection with --num-calls calls, or one call with --connections. 0, or no rate at all, starts each arrival when the one before has ended. Also -R."`
	Period      period `group:"load" lastwins:"pace" placeholder:"PERIOD" help:"Seconds from one arrival to the next, instead of --rate: T or dT (fixed), eT (exponential), uMIN,MAX (uniform), vT1,D1,T2,D2,... (T1 for D1 seconds, then T2, in a cycle)."`
	NumConns    total  `group:"load" short:"n" placeholder:"N" help:"Arrivals in all; k and M are thousands and millions. The default is 1, but no limit with --duration, all of a log or archive at its own times, and until a signal with a rate and nothing else but a URL or a file of servers or requests."`
	Duration    span   `group:"load" short:"z" aliases:"runtime" placeholder:"TIME" help:"No arrival is due after this. With --num-conns whichever comes first ends the run. Also --runtime. Times are 5s, 250ms, 1m30s, 2d or a number of seconds."`
	callFlags   `embed:""`
	Closed      count `group:"load" placeholder:"N" help:"Closed model instead of a rate, for comparison: N callers, each waits for its reply before its next call."`
	Client      fleet `group:"load" placeholder:"I/N" help:"This is client I of N that run together (0/N to N-1/N); default 0/1."`
	Seed        seed  `group:"load" placeholder:"N" help:"Seed of random arrivals; the same seed gives the same ones; default 0."`
	warmupFlags `embed:""`
	StartAt     instant `group:"load" placeholder:"WHEN" help:"Start then: 2030-01-02T15:04:05Z, @UNIX-SECONDS or +10s; default now."`

	sessionFlags    `embed:""`
	fileFlags       `embed:""`
	replayFlags     `embed:""`
	metricsFlags    `embed:""`
	connectionFlags `embed:""`
	tlsFlags        `embed:""`
	requestFlags    `embed:""`
	timeoutFlags    `embed:""`

	Output        []output `group:"output" short:"o" sep:"none" placeholder:"FORMAT[=FILE]" help:"text, httperf (its report alone), json, csv (a row a window) or ndjson (a line a window while it runs); to FILE, or to standard output instead of text. May be repeated."`
	Window        span     `group:"output" placeholder:"TIME" help:"Length of a reply-rate sample; default 5s, 1s in runs under 10s, 100ms under 2s."`
	Quiet         bool     `group:"output" short:"q" help:"No header and no line a window on standard error."`
	Verbose       int      `group:"output" type:"counter" short:"v" help:"Print each reply-rate sample too; twice: and a histogram of the connections' lifetimes."`
	PeriodicStats bool     `group:"output" help:"A line a second on standard error with the replies 2xx and 3xx, and a line with those of 200 and 302 in the report."`
	PrintReply    part     `group:"output" help:"Print each reply, or its header or body with =header or =body."`
	PrintRequest  part     `group:"output" help:"Print each request, or its header or body with =header or =body."`
	DryRun        bool     `group:"output" help:"Print what would be done, and do nothing."`

	engineFlags   `embed:""`
	Debug         string `group:"engine" placeholder:"N" help:"httperf's; no effect."`
	UseTimerCache bool   `group:"engine" help:"httperf's; no effect."`
}

// Help implements kong.HelpProvider.
func (*runCmd) Help() string {
	return `All options of httperf are known, and may be shortened as long as they are unique among httperf's. The result goes to standard output, the plan, a line for each window and warnings to standard error. The first SIGINT or SIGTERM stops the run and prints what was measured, the second ends the program at once.

Exit codes: 0 done; 1 internal or I/O error; 2 usage; 3 the target never answered; 4 the verdict is invalid; 130 or 143 ended by SIGINT or SIGTERM.`
}

// options returns what the flags ask for, and warnings about what is probably
// not meant. Lookup resolves names of local addresses.
func (c *runCmd) options(p *program, now time.Time, lookup lookupFunc) (run.Options, []string, error) {
	o := run.Options{
		Classic: p.classic, Argv: p.argv,
		Server: c.Server, Port: int(c.Port), URI: c.URI, ServerName: c.ServerName,
		Unix: c.UnixSocket, Resolve: c.Resolve, IPv4: c.IPv4, IPv6: c.IPv6,
		NoHost: c.NoHostHdr, HTTP10: c.HTTPVersion == "1.0", UserAgent: c.UserAgent,
		Closed: int(c.Closed), Duration: time.Duration(c.Duration),
		NumCalls: int(c.NumCalls), Burst: int(c.BurstLength), Pause: time.Duration(c.BurstPause), Pool: int(c.Connections),
		Seed: uint64(c.Seed), Client: c.Client.i, Clients: c.Client.n,
		Warmup: time.Duration(c.Warmup), Drain: (*time.Duration)(c.Drain), Window: time.Duration(c.Window), Start: c.StartAt.when(now),
		Timeout: time.Duration(c.Timeout), ThinkTimeout: time.Duration(c.ThinkTimeout),
		ConnectTimeout: time.Duration(c.ConnectTimeout), ReplyTimeout: time.Duration(c.ReplyTimeout), Deadline: time.Duration(c.Deadline),
		MaxInflight: int(c.MaxInflight), Backlog: int(c.Backlog), Workers: int(c.Workers),
		Spin: time.Duration(c.Spin), CatchUp: c.CatchUp.CatchUp, CloseMode: c.CloseMode, Hog: c.Hog,
		SendBuffer: int(c.SendBuffer), ReceiveBuffer: int(c.RecvBuffer), MaxHeader: int(c.MaxHeaderBytes),
		Expect:     c.ExpectStatus.StatusSet,
		WorkingSet: run.WorkingSet(c.WSet),
	}
	var warnings []string
	if !o.Start.IsZero() && o.Start.Before(now) {
		warnings = append(warnings, fmt.Sprintf("--start-at: %s is over, the run starts at once", o.Start.Format(time.RFC3339)))
	}
	if err := c.target(&o); err != nil {
		return o, nil, err
	}
	o.HTTP2, o.MaxStreams = c.HTTP2 || c.HTTP2PriorKnowledge, int(c.MaxStreams)
	switch {
	case o.HTTP2 && c.HTTPVersion != "":
		return o, nil, fmt.Errorf("--http-version %s and HTTP/2: want one of them", c.HTTPVersion)
	case c.HTTP2 && o.TLS == nil && c.Targets.file == "":
		return o, nil, errors.New("--http2: want https, or --http2-prior-knowledge to speak it in the clear")
	}
	more, err := c.request(&o)
	if err != nil {
		return o, nil, err
	}
	warnings = append(warnings, more...)
	if err := c.amount(&o); err != nil {
		return o, nil, err
	}
	for _, fill := range []func(*run.Options) ([]string, error){c.files, c.sessions} {
		more, err := fill(&o)
		if err != nil {
			return o, nil, err
		}
		warnings = append(warnings, more...)
	}
	if c.CloseWithReset {
		if o.CloseMode == "fin" {
			return o, nil, errors.New("--close-mode fin and --close-with-reset: want one of them")
		}
		o.CloseMode = "rst"
	}
	o.Sources, err = sources(c.MyAddr, c.IPv6, lookup)
	return o, warnings, err
}

// target puts the URL beside --server, --port and --uri, which may repeat what
// it says.
func (c *runCmd) target(o *run.Options) error {
	var err error
	if o.TLS, err = c.tls(); err != nil || c.URL == "" {
		return err
	}
	server, port, uri, secure, err := splitURL(c.URL)
	switch {
	case err != nil:
		return err
	case secure && o.TLS == nil:
		o.TLS = &run.TLS{}
	case !secure && o.TLS != nil:
		return fmt.Errorf("URL %s: TLS was asked for, want https", c.URL)
	}
	switch {
	case c.Server != "" && !strings.EqualFold(strings.Trim(c.Server, "[]"), server):
		return fmt.Errorf("--server %s: the URL says %s, want one of them", c.Server, server)
	case c.Port != 0 && int(c.Port) != port:
		return fmt.Errorf("--port %d: the URL says %d, want one of them", c.Port, port)
	case c.URI != "" && c.URI != uri:
		return fmt.Errorf("--uri %s: the URL says %s, want one of them", c.URI, uri)
	}
	o.Server, o.Port, o.URI = server, port, uri
	return nil
}

// tls returns what the flags say about TLS, nil when none does.
func (c *runCmd) tls() (*run.TLS, error) {
	if c.SSLProtocol != 0 && (c.TLSMin != 0 || c.TLSMax != 0) {
		return nil, errors.New("--ssl-protocol and --tls-min or --tls-max: want one of them")
	}
	t := &run.TLS{
		Insecure: c.Insecure || c.SSLVerify.no, CAFile: c.CACert, CAPath: c.SSLCAPath, CertFile: c.Cert, KeyFile: c.Key,
		ServerName: c.TLSServerName, Min: cmp.Or(c.SSLProtocol, c.TLSMin).number(), Max: cmp.Or(c.SSLProtocol, c.TLSMax).number(),
		Ciphers: c.SSLCiphers, NoReuse: c.SSLNoReuse,
	}
	if asked := c.SSL || c.SSLVerify.given || cmp.Or(c.SSLProtocol, c.TLSMin, c.TLSMax) != 0; !asked && *t == (run.TLS{}) {
		return nil, nil
	}
	return t, nil
}

// wantURL is what is said of a URL that is none.
const wantURL = "want http://HOST[:PORT][/PATH] or https://..."

// splitURL takes a URL apart. The URI is what it has behind the host, as it is
// written.
func splitURL(s string) (server string, port int, uri string, secure bool, err error) {
	u, err := url.Parse(s)
	switch {
	case err != nil && strings.Contains(s, "@"):
		// The text may hold a password.
		return "", 0, "", false, fmt.Errorf("the URL is not valid: %s", wantURL)
	case err != nil:
		return "", 0, "", false, fmt.Errorf("URL %q: %s", s, wantURL)
	case u.User != nil:
		return "", 0, "", false, fmt.Errorf("URL %s: a user in it is not sent, use -H 'Authorization: ...'", u.Redacted())
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", 0, "", false, fmt.Errorf("URL %q: %s (the commands are run, sweep, compare, fair, serve, schema, dashboard and version, and come first)", s, wantURL)
	}
	if port = 80; u.Scheme == "https" {
		port, secure = 443, true
	}
	if text := u.Port(); text != "" {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			return "", 0, "", false, fmt.Errorf("URL %q: port %s: want 1 to 65535", s, text)
		}
		port = int(n)
	}
	_, rest, _ := strings.Cut(s, "//")
	rest, _, _ = strings.Cut(rest, "#")
	uri = "/"
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		uri = rest[i:]
	}
	if uri[0] == '?' {
		uri = "/" + uri
	}
	return u.Hostname(), port, uri, secure, nil
}

// request fills in the method, the header and the body.
func (c *runCmd) request(o *run.Options) (warnings []string, err error) {
	o.Method = c.Method
	data := c.Data
	if c.DataFile.given {
		data = body(c.DataFile)
	}
	if data.given {
		o.Body = data.bytes
		if o.Method == "" {
			o.Method = "POST"
		}
	}
	if o.Method != "HEAD" && strings.EqualFold(o.Method, "HEAD") {
		warnings = append(warnings, fmt.Sprintf("--method %s: methods are case-sensitive, this is not HEAD: the body that its reply announces is awaited", o.Method))
	}
	for _, a := range c.AddHeader {
		o.Header = append(o.Header, a.fields...)
		for _, w := range a.warnings {
			warnings = append(warnings, "--add-header: "+w)
		}
	}
	for _, f := range c.AddHeaderFile {
		o.Header = append(o.Header, f.fields...)
	}
	for _, h := range c.Header {
		o.Header = append(o.Header, client.Header(h))
	}
	for _, h := range o.Header {
		if strings.EqualFold(h.Name, "Content-Length") && h.Value != strconv.Itoa(len(o.Body)) {
			warnings = append(warnings, fmt.Sprintf("a header says Content-Length: %s and the body has %d bytes: the server may take the next request for a part of it", h.Value, len(o.Body)))
		}
	}
	if c.ContentType != "" {
		for _, h := range o.Header {
			if strings.EqualFold(h.Name, "Content-Type") {
				return nil, fmt.Errorf("--content-type %s: a header says %s, want one of them", c.ContentType, h.Value)
			}
		}
		o.Header = append(o.Header, client.Header{Name: "Content-Type", Value: c.ContentType})
	}
	return warnings, nil
}

// amount works out how many arrivals there are and when they are due.
func (c *runCmd) amount(o *run.Options) error {
	pace := c.Rate.pace
	if c.Period.text != "" {
		pace, o.Period = c.Period.pace, true
	}
	o.Process, o.RateText = pace.process, pace.text
	switch {
	case c.Closed > 0 && o.Process != nil:
		return fmt.Errorf("--closed %d with a rate of %s: in a closed model replies set the pace, want one of them", c.Closed, o.RateText)
	case c.Closed > 0 && c.Connections > 0 && !o.HTTP2:
		return fmt.Errorf("--closed %d and --connections %d: want one of them (a closed model keeps its connections open by itself)", c.Closed, c.Connections)
	case c.Connections > 0 && o.Process == nil && c.Closed == 0 && !c.recorded():
		return fmt.Errorf("--connections %d: a pool wants a rate (-r); for %d callers that wait for their replies use --closed %d", c.Connections, c.Connections, c.Connections)
	case c.Connections > 0 && c.NumCalls > 1:
		return fmt.Errorf("--num-calls %d with --connections: on a pool an arrival is one call", c.NumCalls)
	case c.Connections > 0 && c.NoKeepalive:
		return errors.New("--no-keepalive and --connections: want one of them")
	}
	o.KeepOpen = c.Closed > 0 && c.NumCalls == 0 && !c.NoKeepalive && c.Connections == 0
	o.NumConns = uint64(c.NumConns)
	if o.NumConns > 0 || o.Duration > 0 && !o.Classic {
		return nil
	}
	if !o.Classic {
		paced := o.Process != nil || c.Closed > 0
		named := c.URL != "" || c.Servers.file != "" || c.Targets.file != "" || c.recorded()
		o.Forever = named && paced && c.NumCalls == 0 && c.BurstLength == 0
		if o.Process != nil {
			// A trace, or a rate that falls to zero, ends by itself.
			_, _, ends := pacer.PlannedEnd(o.Process, o.Seed)
			o.Forever = o.Forever || ends
		}
	}
	if !o.Forever {
		o.NumConns = 1
	}
	return nil
}

// maxSources bounds the local addresses.
const maxSources = 1 << 16

// A lookupFunc returns the addresses of a name.
type lookupFunc func(name string) ([]netip.Addr, error)

// sources reads lists of addresses, ranges and names. Of a name the first
// address of the family is used; of IPv4 unless ipv6 is set.
func sources(lists []string, ipv6 bool, lookup lookupFunc) ([]netip.Addr, error) {
	var all []netip.Addr
	for _, list := range lists {
		for item := range strings.SplitSeq(list, ",") {
			item = strings.TrimSpace(item)
			from, to, err := sourceRange(item, ipv6, lookup)
			if err != nil {
				return nil, fmt.Errorf("--myaddr %q: %w", item, err)
			}
			for a := from; ; a = a.Next() {
				if len(all) == maxSources {
					return nil, fmt.Errorf("--myaddr %q: more than %d addresses in all", item, maxSources)
				}
				all = append(all, a)
				if a == to {
					break
				}
			}
		}
	}
	return all, nil
}

func sourceRange(item string, ipv6 bool, lookup lookupFunc) (from, to netip.Addr, err error) {
	low, high, isRange := strings.Cut(item, "-")
	from, err = netip.ParseAddr(low)
	if isRange && err == nil {
		to, err = netip.ParseAddr(high)
		if err != nil || from.BitLen() != to.BitLen() || to.Less(from) {
			return from, to, errors.New("want a range FROM-TO of one family, such as 127.0.0.2-127.0.0.9")
		}
		return from, to, nil
	}
	if from, err = netip.ParseAddr(item); err == nil {
		return from, from, nil
	}
	if item == "" || strings.ContainsAny(item, "/:") {
		return from, from, errors.New("want an address, a range FROM-TO or a name")
	}
	found, err := lookup(item)
	if err != nil {
		return from, from, err
	}
	for _, a := range found {
		if a = a.Unmap(); a.Is6() == ipv6 {
			return a, a, nil
		}
	}
	return from, from, fmt.Errorf("the name has no such address (it has %v)", found)
}
