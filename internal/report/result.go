package report

import "time"

// ResultSchema names the version of the JSON form of a Result.
const ResultSchema = "httpgen.result/1"

// The two models of load. An open one starts arrivals when they are due, a
// closed one when an earlier reply allows it.
const (
	Open   = "open"
	Closed = "closed"
)

// Result is everything one run has to say. The caller fills it; Schema and
// every other field must be set unless the comment says otherwise.
type Result struct {
	Schema   string    `json:"schema"`             // ResultSchema
	Tool     Tool      `json:"tool"`               // what measured
	Run      Run       `json:"run"`                // when, how long, how it ended
	Config   Config    `json:"config"`             // what was asked for, defaults made explicit
	Model    string    `json:"model"`              // Open or Closed
	Verdict  Verdict   `json:"verdict"`            // may these numbers be believed
	Totals   Totals    `json:"totals"`             // what happened after the warm-up
	Warmup   *Totals   `json:"warmup,omitempty"`   // arrivals intended during the warm-up, wherever they ended; nil without one
	Sessions *Sessions `json:"sessions,omitempty"` // nil without a session workload
	Rates    Rates     `json:"rates"`              // arrivals, connections, requests and replies per second
	Times    Times     `json:"times"`              // how long each phase took, in seconds
	CPU      CPU       `json:"cpu"`                // processor time of the generator
	Windows  []Window  `json:"windows"`            // base intervals in order, the drain included and the warm-up left out
	Streams  []Stream  `json:"streams,omitempty"`  // one for each client of a run that has several; else empty
}

// Tool names the program and the machine it ran on.
type Tool struct {
	Name    string `json:"name"`    // "httpgen"
	Version string `json:"version"` // of the program
	Go      string `json:"go"`      // version of the Go release it was built with
	OS      string `json:"os"`      // operating system, such as "linux"
	Kernel  string `json:"kernel"`  // release of the kernel; empty when unknown
	CPUs    int    `json:"cpus"`    // processors the program could use
}

// Run tells when the run took place and how it ended.
type Run struct {
	ID             string    `json:"id"`               // names the run in live output and metrics
	Argv           []string  `json:"argv"`             // command line with secret values replaced, see Redact
	Echo           string    `json:"echo"`             // httperf's first line: the command with its defaults explicit and secret values replaced
	StartedAt      time.Time `json:"started_at"`       // wall clock at offset 0 of the schedule
	EpochUnixNanos int64     `json:"epoch_unix_nanos"` // the same instant in nanoseconds since 1970
	StopReason     string    `json:"stop_reason"`      // what ended it, such as "schedule", "duration" or "signal"
	Complete       bool      `json:"complete"`         // whether the planned end was reached
	PlannedSeconds *float64  `json:"planned_seconds"`  // planned length of sending without the warm-up; null when a signal is the only end
	SendingSeconds float64   `json:"sending_seconds"`  // time in which arrivals were due, without warm-up and drain
	TotalSeconds   float64   `json:"total_seconds"`    // sending and drain, without the warm-up: httperf's test-duration
}

// Config is what the run was asked to do, after defaults were filled in.
//
// A run of several clients has in it what they have together: rates, as given
// joined by +, pools and callers are sums; calls, bursts and timeouts those of the
// client with the most or the longest; sources and addresses those of all. A word
// in which they differ is "mixed", and a target, file, step or number of entries
// empty or 0. The seed is the first client's. KeepOpen, Once and Sessions say that
// all clients do so. RatePerSecond adds up the means of clients that may send at
// different times.
type Config struct {
	Rate               string   `json:"rate"`                 // the rate or period as given
	Process            string   `json:"process"`              // kind of arrival process, such as "constant" or "poisson"
	RatePerSecond      float64  `json:"rate_per_second"`      // arrivals per second, the mean where it varies; 0 in a closed run
	CallsPerConnection int      `json:"calls_per_connection"` // calls an arrival makes, one after another
	BurstLength        int      `json:"burst_length"`         // calls sent without waiting for a reply
	Connections        int      `json:"connections"`          // size of the pool of kept-open connections; 0 opens one an arrival
	Closed             int      `json:"closed"`               // callers that each wait for their reply; 0 in an open run
	KeepOpen           bool     `json:"keep_open"`            // closed run: a caller keeps its connection from call to call
	MaxInflight        int      `json:"max_inflight"`         // arrivals that may be open at once; 0 means no bound
	Loops              int      `json:"loops"`                // event loops, or shards of the engine
	SpinSeconds        float64  `json:"spin_seconds"`         // how long before an arrival a loop polls instead of sleeping
	CatchUp            string   `json:"catch_up"`             // how owed arrivals are let go, such as "2x"
	Seed               uint64   `json:"seed"`                 // of the random processes, so that a run can be repeated
	CloseMode          string   `json:"close_mode"`           // how connections were to be closed: "fin", "rst" or "auto"
	CloseModeUsed      string   `json:"close_mode_used"`      // how they were closed: "fin" or "rst"
	Timeouts           Timeouts `json:"timeouts"`             // bounds of the phases of a call
	DrainSeconds       float64  `json:"drain_seconds"`        // longest wait after the last start
	WarmupSeconds      float64  `json:"warmup_seconds"`       // arrivals intended earlier are counted apart
	WindowSeconds      float64  `json:"window_seconds"`       // length of a reply-rate sample
	BaseWindowSeconds  float64  `json:"base_window_seconds"`  // length of one entry of windows
	Sources            []string `json:"sources"`              // local addresses used in turn; empty leaves the choice to the system
	Target             Target   `json:"target"`               // where the calls go
	Method             string   `json:"method"`               // of the requests
	HTTPVersion        string   `json:"http_version"`         // "1.0", "1.1" or "2"
	Workload           Workload `json:"workload"`             // what the calls of an arrival ask for
	Engine             string   `json:"engine"`               // "loop" or "conn"
	Nofile             uint64   `json:"nofile"`               // descriptors the process may open
}

// Workload says what the calls ask for.
type Workload struct {
	Kind     string  `json:"kind"`     // "calls" (one URI, that of the target), "pages" (it and what it embeds), "list", "working_set", "requests", "log" or "script"
	File     string  `json:"file"`     // where a list, requests, a log or a script are from; empty without one
	Entries  int     `json:"entries"`  // URIs of a list, files of a working set, requests, sessions of a script; 0 without any
	Once     bool    `json:"once"`     // the run ends with its list or requests, which else begin again
	Step     float64 `json:"step"`     // part of a file by which each call goes on through a working set
	Sessions bool    `json:"sessions"` // arrivals are sessions
	Servers  int     `json:"servers"`  // that arrivals go to
}

// Timeouts bound the phases of a call, in seconds. Null means no bound.
type Timeouts struct {
	ConnectSeconds  *float64 `json:"connect_seconds"`  // from connect() to established, a TLS handshake included
	SendSeconds     *float64 `json:"send_seconds"`     // from the first to the last request byte
	ReplySeconds    *float64 `json:"reply_seconds"`    // from the last request byte to the last reply byte
	DeadlineSeconds *float64 `json:"deadline_seconds"` // from the intended start to the last reply byte
	ThinkSeconds    *float64 `json:"think_seconds"`    // added to the reply timeout
}

// Target is where the calls go.
type Target struct {
	URL        string   `json:"url"`         // without a password
	Addresses  []string `json:"addresses"`   // host:port pairs the name resolved to, in the order of use
	HostHeader string   `json:"host_header"` // value of Host; empty when none is sent
	Unix       string   `json:"unix"`        // path of the Unix socket; empty for TCP
}

// CPU is the processor time the generator used during TotalSeconds.
type CPU struct {
	UserSeconds   float64 `json:"user_seconds"`   // in the program
	SystemSeconds float64 `json:"system_seconds"` // in the kernel on its behalf
}

// Stream is one client of a run that has several. Its rates are over the times of
// the run, also when it joined later or left before. What loops see of all clients
// at once, the most connections open and the longest burst, is known of the run
// alone and 0 here.
type Stream struct {
	Name    string   `json:"name"`    // unique in the run
	Target  string   `json:"target"`  // URL without a password
	Weight  float64  `json:"weight"`  // share it is meant to get, relative to the others
	Verdict Verdict  `json:"verdict"` // of this client alone
	Totals  Totals   `json:"totals"`  // what happened to its arrivals after the warm-up
	Rates   Rates    `json:"rates"`   // its arrivals, connections, requests and replies per second
	Times   Times    `json:"times"`   // how long each phase took, in seconds
	Windows []Window `json:"windows"` // on the same grid as those of the run
}
