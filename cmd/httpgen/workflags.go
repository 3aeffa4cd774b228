package main

// The options of the command run about what an arrival is, where it goes and how,
// which trials of experiments have too. They do not say how many there are, and
// when.

// callFlags are the options about the calls of an arrival.
type callFlags struct {
	NumCalls    count    `group:"load" placeholder:"N" help:"Calls on each connection, one after another; default 1."`
	BurstLength count    `group:"load" placeholder:"N" help:"Calls sent at once without waiting for replies; default 1."`
	BurstPause  duration `group:"load" placeholder:"TIME" help:"Wait between the end of a burst and the next one; default 0."`
	Connections count    `group:"load" short:"c" placeholder:"N" help:"Keep a pool of N connections open; an arrival is then one call on one of them. Needs a rate, --har or --access-log."`
}

// warmupFlags is the option about what comes before the measurement.
type warmupFlags struct {
	Warmup duration `group:"load" placeholder:"TIME" help:"Count arrivals of the first TIME apart; default 0."`
}

// connectionFlags are the options about the server and the way to it.
type connectionFlags struct {
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
}

// tlsFlags are the options about TLS.
type tlsFlags struct {
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
}

// requestFlags are the options about the request and its reply.
type requestFlags struct {
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
}

// timeoutFlags are the options about how long things may take.
type timeoutFlags struct {
	Timeout        duration  `group:"timeout" placeholder:"TIME" help:"Bounds connecting, sending and the reply, each; default none, as in httperf."`
	ThinkTimeout   duration  `group:"timeout" placeholder:"TIME" help:"Added to the time for the reply; default 0."`
	ConnectTimeout span      `group:"timeout" placeholder:"TIME" help:"Bounds connecting, instead of --timeout."`
	ReplyTimeout   span      `group:"timeout" placeholder:"TIME" help:"Bounds the reply, from the last byte of the request to its own last, instead of --timeout."`
	Deadline       duration  `group:"timeout" placeholder:"TIME" help:"Bounds a call from the instant it was due to its end; default none."`
	Drain          *duration `group:"timeout" placeholder:"TIME" help:"How long to wait for what is open after the last start; default as long as the timeouts let an arrival take, else 30s."`
}

// engineFlags are the options about how arrivals are carried out.
type engineFlags struct {
	MaxInflight count   `group:"engine" placeholder:"N" help:"Arrivals open at once; more are shed and counted. Default what descriptors allow. Also --max-connections."`
	Backlog     count   `group:"engine" placeholder:"N" help:"Arrivals that may wait for a connection of the pool; default 65536."`
	Workers     count   `group:"engine" placeholder:"N" help:"Event loops, one thread each; default by rate and processors."`
	Spin        spin    `group:"engine" placeholder:"TIME|auto|none" help:"Poll this long before an arrival instead of sleeping; default auto."`
	CatchUp     catchUp `group:"engine" placeholder:"HOW" help:"How arrivals go that a stall of this program left owing: 2x (at twice the rate), burst (at once, as httperf), drop or drop=10ms (later ones are shed); default 2x. After the planned end they go on for the longest timeout, 30s without one; what is left is shed as late."`
}
