package run

import (
	"net/netip"
	"time"

	"httpgen/client"
	"httpgen/internal/accesslog"
	"httpgen/internal/script"
	"httpgen/pacer"
)

// Options is what a user asked for. Every field may be left zero: that asks
// for one connection with one GET / to localhost:80.
type Options struct {
	Classic bool     // called by the name httperf: the echoed command says so
	Argv    []string // the command line, for the result; secrets are removed here

	Server     string   // host name or address; default localhost
	Port       int      // default 80
	URI        string   // default "/"
	ServerName string   // Host header instead of Server and Port
	Unix       string   // unix socket to connect to instead of Server and Port
	Resolve    []string // host:port:address[,address]..., as curl has it; "*" is any host
	IPv4, IPv6 bool     // use only such addresses of the name
	TLS        *TLS     // nil: in the clear. The default port is then 443

	Method    string // default GET
	Header    []client.Header
	NoHost    bool
	HTTP10    bool
	Body      []byte
	UserAgent string // default httpgen/VERSION

	Process    pacer.Process // when arrivals are due; nil together with Closed 0 is httperf's sequential mode
	RateText   string        // the rate or period as it was given, for the report
	Period     bool          // RateText is a period (--period)
	Closed     int           // closed model: arrivals open at all times
	NumConns   uint64        // arrivals in all; 0 means no limit if Duration is set or Forever
	Duration   time.Duration // start none after this; 0 means no limit
	Forever    bool          // neither NumConns nor Duration bound the run, a signal ends it
	NumCalls   int           // calls a connection; default 1
	Burst      int           // calls sent at once; default 1
	Pause      time.Duration // between bursts
	HTTP2      bool          // speak HTTP/2: by agreement over TLS, by prior knowledge in the clear
	MaxStreams int           // calls at once on a pooled connection over HTTP/2, within what the server allows; default 100
	Pool       int           // connections kept open, an arrival is one call
	KeepOpen   bool          // closed model: keep connections open from arrival to arrival
	Seed       uint64        // of random processes
	Client     int           // httperf's --client I/N: which client this is
	Clients    int           // of how many; default 1
	Warmup     time.Duration
	Drain      *time.Duration // nil: as long as the timeouts let an arrival take, else 30 s
	Window     time.Duration  // length of the samples; default 5 s, 1 s below 10 s, 0.1 s below 2 s
	Start      time.Time      // zero: at once

	Timeout        time.Duration // of connecting, sending and the reply, each; 0 means none
	ThinkTimeout   time.Duration // added to the reply's
	ConnectTimeout time.Duration // instead of Timeout; 0 means Timeout
	ReplyTimeout   time.Duration // instead of Timeout; 0 means Timeout
	Deadline       time.Duration

	MaxInflight   int // 0: what descriptors and ports allow
	Backlog       int
	Workers       int           // loops; 0 chooses
	Spin          time.Duration // 0 chooses, negative never
	CatchUp       pacer.CatchUp
	CloseMode     string // "auto" (default), "fin" or "rst"
	Hog           bool
	Sources       []netip.Addr
	SendBuffer    int
	ReceiveBuffer int
	MaxHeader     int
	Expect        *StatusSet // replies that are as expected; nil means all
	Tap           client.Tap

	// What is asked for instead of URI, at most one of these.
	URIs       []string         // in order over all calls
	Rows       []int            // one a URI: the line of From; nil numbers them
	Requests   []script.Request // instead of URIs: all of the request, and its server
	Log        *accesslog.Log   // instead of URIs: its requests, in order, again and again
	From       string           // name of the file that they or a script are from, for the report and errors
	Once       bool             // the run ends with URIs or Requests; else they begin again
	WorkingSet WorkingSet       // below URI

	Session     *Session        // arrivals are sessions; nil makes an arrival one connection, or a call on a pool
	Cookies     bool            // keep and send the cookies of each arrival
	Follow      bool            // follow redirects to the same origin
	Expand      bool            // replace {seq}, {rand} and {client} in URIs and headers
	ServersFrom string          // name of the file that Servers are from, for the report
	Servers     []script.Server // instead of Server: arrivals take them in turn, by their weights
}

// A WorkingSet is httperf's: N files, through which calls go by Step of a file.
// Their URIs are the digits of their numbers, from /0/0.html to /9/9.html for 100.
type WorkingSet struct {
	N    int     // at most MaxWorkingSet; 0 is none
	Step float64 // 0 to 1
}

// MaxWorkingSet bounds the files of a working set.
const MaxWorkingSet = 1_000_000
