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

	Rate        rate     `group:"load" short:"r" aliases:"R" lastwins:"pace" placeholder:"RATE" help:"Arrivals per second: 2000, 2000/s, 6000/1m, 0.5; poisson:500; uniform:5ms,15ms; a ramp 100..5000@60s; steps 100:10s,200:10s; trace:FILE (a line an arrival, seconds from the start). An arrival is a new connection with --num-calls calls, or one call with --connections. 0, or no rate at all, starts each arrival when the one before has ended. Also -R."`
	Period      period   `group:"load" lastwins:"pace" placeholder:"PERIOD" help:"Seconds from one arrival to the next, instead of --rate: T or dT (fixed), eT (exponential), uMIN,MAX (uniform), vT1,D1,T2,D2,... (T1 for D1 seconds, then T2, in a cycle)."`
	NumConns    total    `group:"load" short:"n" placeholder:"N" help:"Arrivals in all; k and M are thousands and millions. The default is 1, but no limit with --duration, all of a log or archive at its own times, and until a signal with a rate and nothing else but a URL or a file of servers or requests."`
	Duration    span     `group:"load" short:"z" aliases:"runtime" placeholder:"TIME" help:"No arrival is due after this. With --num-conns whichever comes first ends the run. Also --runtime. Times are 5s, 250ms, 1m30s, 2d or a number of seconds."`
	NumCalls    count    `group:"load" placeholder:"N" help:"Calls on each connection, one after another; default 1."`
	BurstLength count    `group:"load" placeholder:"N" help:"Calls sent at once without waiting for replies; default 1."`
	BurstPause  duration `group:"load" placeholder:"TIME" help:"Wait between the end of a burst and the next one; default 0."`
	Connections count    `group:"load" short:"c" placeholder:"N" help:"Keep a pool of N connections open; an arrival is then one call on one of them. Needs a rate, --har or --access-log."`
	Closed      count    `group:"load" placeholder:"N" help:"Closed model instead of a rate, for comparison: N callers, each waits for its reply before its next call."`
	Client      fleet    `group:"load" placeholder:"I/N" help:"This is client I of N that run together (0/N to N-1/N); default 0/1."`
	Seed        seed     `group:"load" placeholder:"N" help:"Seed of random arrivals; the same seed gives the same ones; default 0."`
	Warmup      duration `group:"load" placeholder:"TIME" help:"Count arrivals of the first TIME apart; default 0."`
	StartAt     instant  `group:"load" placeholder:"WHEN" help:"Start then: 2030-01-02T15:04:05Z, @UNIX-SECONDS or +10s; default now."`

	sessionFlags `embed:""`
	fileFlags    `embed:""`
	metricsFlags `embed:""`

	Server              string   `group:"connection" placeholder:"HOST" help:"Name or address of the server; default localhost."`
	Port                port     `group:"connection" placeholder:"N" help:"Its port; default 80."`
	UnixSocket          string   `group:"connection" placeholder:"PATH" help:"Connect to this Unix socket instead; @NAME is an abstract one."`
	Resolve             []string `group:"connection" sep:"none" placeholder:"HOST:PORT:ADDR[,ADDR...]" help:"Addresses to use for HOST and PORT, as in curl. May be repeated."`
	IPv4                bool     `group:"connection" name:"ipv4" short:"4" xor:"family" help:"Use IPv4 addresses only."`
	IPv6                bool     `group:"connection" name:"ipv6" short:"6" xor:"family" help:"Use IPv6 addresses only."`
	MyAddr              []string `group:"connection" name:"myaddr" sep:"none" placeholder:"ADDR,FROM-TO,..." help:"Local addresses or names, used in turn; at most 65536. May be repeated."`
	Hog                 bool     `group:"connection" help:"Use the local ports 1024 to 65535 instead of the system's range."`
	NoKeepalive         bool     `group:"connection" help:"With --closed: a new connection for every arrival. Without it they stay open unless --num-calls is given."`
	HTTP2               bool     `group:"connection" name:"http2" help:"Speak HTTP/2 over TLS; a server that does not agree to it is a TLS error."`
	HTTP2PriorKnowledge bool     `group:"connection" name:"http2-prior-knowledge" help:"Speak HTTP/2 in the clear, without asking the server."`
	MaxStreams          count    `group:"connection" placeholder:"N" help:"Calls at once on a connection of the pool over HTTP/2, within what the server allows; default 100."`
	CloseMode           string   `group:"connection" enum:"auto,fin,rst" default:"auto" placeholder:"MODE" help:"How connections are closed: fin, rst (a reset, which leaves no TIME_WAIT), or auto: fin unless local ports would run out; default auto."`
	CloseWithReset      bool     `group:"connection" help:"The same as --close-mode rst."`
	SendBuffer          size     `group:"connection" placeholder:"SIZE" help:"Send buffer of a socket in bytes, or 64KiB, 1MB; the default is left to the system (httperf: 4096)."`
	RecvBuffer          size     `group:"connection" placeholder:"SIZE" help:"Receive buffer of a socket; the default is left to the system (httperf: 16384)."`

	SSL           bool       `group:"tls" name:"ssl" help:"Speak TLS; the default port is then 443. A URL with https says the same, and so does every option below."`
	Insecure      bool       `group:"tls" short:"k" help:"Believe any certificate. httperf does so by default, this program verifies."`
	SSLVerify     verify     `group:"tls" name:"ssl-verify" help:"Verify the server's certificate: yes, the default, or =no."`
	CACert        string     `group:"tls" name:"cacert" aliases:"ssl-ca-file" placeholder:"FILE" help:"Roots in PEM, instead of the system's. Also --ssl-ca-file."`
	SSLCAPath     string     `group:"tls" name:"ssl-ca-path" placeholder:"DIR" help:"A folder of such files."`
	Cert          string     `group:"tls" aliases:"ssl-certificate" placeholder:"FILE" help:"Our own certificate in PEM. Also --ssl-certificate."`
	Key           string     `group:"tls" aliases:"ssl-key" placeholder:"FILE" help:"Its key; default the same file. Also --ssl-key."`
	TLSServerName string     `group:"tls" name:"tls-server-name" placeholder:"NAME" help:"Name to ask for (SNI) and to verify; default the server's."`
	TLSMin        tlsVersion `group:"tls" name:"tls-min" placeholder:"VERSION" help:"Lowest version: 1.0, 1.1, 1.2 or 1.3; default 1.2."`
	TLSMax        tlsVersion `group:"tls" name:"tls-max" placeholder:"VERSION" help:"Highest version; default 1.3."`
	SSLProtocol   tlsVersion `group:"tls" name:"ssl-protocol" placeholder:"NAME" help:"Exactly this version: TLSv1.0 to TLSv1.3, or auto. SSLv2 and SSLv3 are refused."`
	SSLCiphers    string     `group:"tls" name:"ssl-ciphers" placeholder:"LIST" help:"Cipher suites up to TLS 1.2 by OpenSSL's names, separated by colons."`
	SSLNoReuse    bool       `group:"tls" name:"ssl-no-reuse" help:"A full handshake for every connection: no session is resumed."`

	URI            string        `group:"request" name:"uri" placeholder:"URI" help:"What is asked for, sent as it is; default /."`
	WLog           uriList       `group:"request" name:"wlog" placeholder:"y|n,FILE" help:"Ask for the URIs of FILE in order, one with each call: y begins again after the last, n ends the run with it. One a line, or ended by NULs as httperf wants it."`
	WSet           workingSet    `group:"request" name:"wset" placeholder:"N,X" help:"Ask for a working set of N files: X, from 0 to 1, is the part of a file that each call moves on by. The URIs are --uri and the digits of the number: /0/0.html to /9/9.html for 100. --client I/N takes every N-th from I."`
	Method         string        `group:"request" short:"X" aliases:"m" placeholder:"NAME" help:"Method; default GET, or POST with a body. Also -m."`
	Header         []header      `group:"request" short:"H" sep:"none" placeholder:"'NAME: VALUE'" help:"Header field to send. May be repeated."`
	AddHeader      []addedHeader `group:"request" sep:"none" placeholder:"LINES" help:"Header lines as httperf has them: \\n ends a line (CR LF); \\r, \\a (LF), \\\\ and octal bytes. May be repeated."`
	AddHeaderFile  []headerFile  `group:"request" sep:"none" placeholder:"FILE" help:"Header lines as they are in FILE, without escapes; they end with LF or CR LF. May be repeated."`
	Data           body          `group:"request" short:"d" xor:"body" placeholder:"TEXT|@FILE" help:"Body of the request, as in curl (httperf's -d N is --debug N)."`
	DataFile       bodyFile      `group:"request" short:"D" xor:"body" placeholder:"FILE" help:"File with the body of the request."`
	ContentType    string        `group:"request" short:"T" placeholder:"TYPE" help:"Content-Type of the body; none by default."`
	ServerName     string        `group:"request" placeholder:"NAME" help:"Host header; default the server and its port."`
	NoHostHdr      bool          `group:"request" help:"Send no Host header."`
	UserAgent      string        `group:"request" short:"A" placeholder:"TEXT" help:"User-Agent header; default httpgen/VERSION."`
	HTTPVersion    httpVersion   `group:"request" name:"http-version" placeholder:"1.0|1.1" help:"HTTP version; default 1.1."`
	ExpectStatus   statusSet     `group:"request" placeholder:"CODES" help:"Replies with another status are errors: 200, 2xx,304 or 200-299; default all are as expected."`
	MaxHeaderBytes size          `group:"request" placeholder:"SIZE" help:"Longest header section of a reply; default 64KiB."`

	Timeout        duration  `group:"timeout" placeholder:"TIME" help:"Bounds connecting, sending and the reply, each; default none, as in httperf."`
	ThinkTimeout   duration  `group:"timeout" placeholder:"TIME" help:"Added to the time for the reply; default 0."`
	ConnectTimeout span      `group:"timeout" placeholder:"TIME" help:"Bounds connecting, instead of --timeout."`
	ReplyTimeout   span      `group:"timeout" placeholder:"TIME" help:"Bounds the reply, from the last byte of the request to its own last, instead of --timeout."`
	Deadline       duration  `group:"timeout" placeholder:"TIME" help:"Bounds a call from the instant it was due to its end; default none."`
	Drain          *duration `group:"timeout" placeholder:"TIME" help:"How long to wait for what is open after the last start; default as long as the timeouts let an arrival take, else 30s."`

	Output        []output `group:"output" short:"o" sep:"none" placeholder:"FORMAT[=FILE]" help:"text, httperf (its report alone), json, csv (a row a window) or ndjson (a line a window while it runs); to FILE, or to standard output instead of text. May be repeated."`
	Window        span     `group:"output" placeholder:"TIME" help:"Length of a reply-rate sample; default 5s, 1s in runs under 10s, 100ms under 2s."`
	Quiet         bool     `group:"output" short:"q" help:"No header and no line a window on standard error."`
	Verbose       int      `group:"output" type:"counter" short:"v" help:"Print each reply-rate sample too; twice: and a histogram of the connections' lifetimes."`
	PeriodicStats bool     `group:"output" help:"A line a second on standard error with the replies 2xx and 3xx, and a line with those of 200 and 302 in the report."`
	PrintReply    part     `group:"output" help:"Print each reply, or its header or body with =header or =body."`
	PrintRequest  part     `group:"output" help:"Print each request, or its header or body with =header or =body."`
	DryRun        bool     `group:"output" help:"Print what would be done, and do nothing."`

	MaxInflight   count   `group:"engine" placeholder:"N" help:"Arrivals open at once; more are shed and counted. Default what descriptors allow. Also --max-connections."`
	Backlog       count   `group:"engine" placeholder:"N" help:"Arrivals that may wait for a connection of the pool; default 65536."`
	Workers       count   `group:"engine" placeholder:"N" help:"Event loops, one thread each; default by rate and processors."`
	Spin          spin    `group:"engine" placeholder:"TIME|auto|none" help:"Poll this long before an arrival instead of sleeping; default auto."`
	CatchUp       catchUp `group:"engine" placeholder:"HOW" help:"How arrivals go that a stall of this program left owing: 2x (at twice the rate), burst (at once, as httperf), drop or drop=10ms (later ones are shed); default 2x. After the planned end they go on for the longest timeout, 30s without one; what is left is shed as late."`
	Debug         string  `group:"engine" placeholder:"N" help:"httperf's; no effect."`
	UseTimerCache bool    `group:"engine" help:"httperf's; no effect."`
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

// splitURL takes a URL apart. The URI is what it has behind the host, as it is
// written.
func splitURL(s string) (server string, port int, uri string, secure bool, err error) {
	const want = "want http://HOST[:PORT][/PATH] or https://..."
	u, err := url.Parse(s)
	switch {
	case err != nil && strings.Contains(s, "@"):
		// The text may hold a password.
		return "", 0, "", false, fmt.Errorf("the URL is not valid: %s", want)
	case err != nil:
		return "", 0, "", false, fmt.Errorf("URL %q: %s", s, want)
	case u.User != nil:
		return "", 0, "", false, fmt.Errorf("URL %s: a user in it is not sent, use -H 'Authorization: ...'", u.Redacted())
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", 0, "", false, fmt.Errorf("URL %q: %s (the commands are run, serve, schema, dashboard and version, and come first)", s, want)
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
