package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"httpgen/client"
	"httpgen/internal/accesslog"
	"httpgen/internal/run"
	"httpgen/pacer"
)

// sessionFlags are the options about sessions.
type sessionFlags struct {
	WSess          sessionCount `group:"session" name:"wsess" placeholder:"N1,N2,X" help:"N1 sessions, --rate of them a second, of N2 calls each in bursts of --burst-length, with X seconds between the end of a burst and the next one. The first call of a burst goes alone, the others when it is answered."`
	WSessLog       sessionLog   `group:"session" name:"wsesslog" placeholder:"N,X,FILE" help:"N sessions of FILE, in turn, with X seconds between bursts that say nothing else. A line is a request: URI, and method=, think=, contents= or body= (also @FILE), headers=; indented lines are a burst with the line above, a blank line ends a session."`
	WSessPage      sessionCount `group:"session" name:"wsesspage" placeholder:"N1,N2,X" help:"As --wsess with calls that are pages: the objects of the same server that a page embeds are asked for in a burst: up to 1000, of the first 4 MB of a page that is not compressed."`
	MaxConnections count        `group:"session" placeholder:"N" help:"Connections of a session at once; default 4. Without sessions the same as --max-inflight."`
	MaxPipedCalls  count        `group:"session" placeholder:"N" help:"Calls under way on one connection of a session; a burst fills one before the next is opened. Default 32, and 1 with HTTP/1.0."`
	SessionCookies bool         `group:"session" help:"Keep the cookies of each session, or connection, and send them back."`
	FailureStatus  statusSet    `group:"session" placeholder:"CODES" help:"Replies with this status make the session fail."`
	RetryOnFailure bool         `group:"session" help:"Calls of a session that failed are made again, on a new connection where need be, and counted as retries. After ten failures in a row the session fails."`
	Location       bool         `group:"session" short:"L" help:"Follow redirects to the same server: each is one more call. More than 10 in a row are an error (unexpected_status)."`
}

// fileFlags are the options about files that say what is asked for, and where.
type fileFlags struct {
	Servers   serverList `group:"connection" placeholder:"FILE" help:"Go to the servers of FILE in turn, instead of --server: HOST[:PORT] [WEIGHT], one a line or ended by NULs."`
	Targets   targetList `group:"request" placeholder:"FILE" help:"Ask for the targets of FILE in order, again and again, at the servers that they name unless a URL or --server is given: METHOD URL, header lines and @BODYFILE below it, a blank line between them, as in vegeta, or its JSON form; or a URL or path a line."`
	HAR       archive    `group:"request" name:"har" placeholder:"FILE" help:"Replay an HTTP archive at its own times (--speed) and at the servers that it names unless a URL or --server is given, or with a rate its requests again and again."`
	AccessLog string     `group:"request" name:"access-log" placeholder:"FILE" help:"Replay an access log (Common or Combined) at its own times (--speed), or with a rate its requests again and again. Bodies are not in a log."`
	NoExpand  bool       `group:"request" help:"Send {seq}, {rand} and {client} in URIs and headers as they are. Else they are the number of the call, a random number of 16 hexadecimal digits and the number of --client, unless the program is called httperf."`
}

// replayFlags are the options about a recording that is replayed at its own times.
type replayFlags struct {
	Spread bool  `group:"load" help:"Put the requests of each second of an access log evenly over it, where its times are whole seconds. Else they are due at one instant."`
	Speed  speed `group:"load" placeholder:"X" help:"Replay at X times the recorded speed; default 1."`
}

// sessions fills in what arrivals are if they are sessions.
func (c *runCmd) sessions(o *run.Options) (warnings []string, err error) {
	var given []string
	for _, f := range []struct {
		name string
		n    uint64
	}{{"--wsess", c.WSess.n}, {"--wsesslog", c.WSessLog.n}, {"--wsesspage", c.WSessPage.n}} {
		if f.n > 0 {
			given = append(given, f.name)
		}
	}
	o.Cookies, o.Follow = c.SessionCookies, c.Location
	if c.SessionCookies && slices.ContainsFunc(o.Header, func(h client.Header) bool { return strings.EqualFold(h.Name, "Cookie") }) {
		return nil, errors.New("--session-cookies and a Cookie header: want one of them")
	}
	switch len(given) {
	case 0:
		return c.noSessions(o)
	case 1:
	default:
		return nil, fmt.Errorf("%s: want one of them", strings.Join(given, " and "))
	}
	if c.Connections > 0 {
		return nil, fmt.Errorf("%s with --connections %d: a session opens its own connections (--max-connections)", given[0], c.Connections)
	}
	o.Session = &run.Session{MaxConns: int(c.MaxConnections), MaxPiped: int(c.MaxPipedCalls), Failure: c.FailureStatus.StatusSet, Retry: c.RetryOnFailure}
	count := c.WSess
	switch {
	case c.WSessLog.n > 0:
		count = sessionCount{c.WSessLog.n, 1, c.WSessLog.think}
		o.Session.Script, o.From = c.WSessLog.sessions, c.WSessLog.file
	case c.WSessPage.n > 0:
		count = c.WSessPage
		o.Session.Pages = true
	}
	if c.NumConns > 0 && uint64(c.NumConns) != count.n {
		warnings = append(warnings, fmt.Sprintf("--num-conns %d has no effect, %s says %d", c.NumConns, given[0], count.n))
	}
	if c.NumCalls > 0 {
		warnings = append(warnings, fmt.Sprintf("--num-calls %d has no effect with %s", c.NumCalls, given[0]))
	}
	if c.BurstPause > 0 {
		return nil, fmt.Errorf("--burst-pause with %s: it says the time between bursts itself", given[0])
	}
	if o.Session.Script != nil && c.BurstLength > 0 {
		warnings = append(warnings, fmt.Sprintf("--burst-length %d has no effect, the bursts are those of %s", c.BurstLength, o.From))
	}
	o.NumConns, o.NumCalls, o.Pause, o.Forever, o.KeepOpen = count.n, count.calls, count.think, false, false
	return warnings, nil
}

// noSessions handles options about sessions where there are none.
func (c *runCmd) noSessions(o *run.Options) (warnings []string, err error) {
	switch {
	case c.MaxConnections > 0 && c.MaxInflight > 0 && c.MaxConnections != c.MaxInflight:
		return nil, fmt.Errorf("--max-connections %d and --max-inflight %d: without sessions both say the same, want one of them", c.MaxConnections, c.MaxInflight)
	case c.MaxConnections > 0:
		o.MaxInflight = int(c.MaxConnections)
	}
	for _, f := range []struct {
		given  bool
		name   string
		advice string
	}{
		{c.MaxPipedCalls > 0, "--max-piped-calls", "--burst-length says how many calls are sent at once"},
		{c.FailureStatus.StatusSet != nil, "--failure-status", "--expect-status makes other replies errors"},
		{c.RetryOnFailure, "--retry-on-failure", "no call is made twice"},
	} {
		if f.given {
			warnings = append(warnings, fmt.Sprintf("%s has no effect without sessions, as in httperf: %s", f.name, f.advice))
		}
	}
	return warnings, nil
}

// files fills in what files say of the requests and the servers, and when they
// are due.
func (c *runCmd) files(o *run.Options) (warnings []string, err error) {
	o.Expand = !c.NoExpand && !o.Classic
	var given []string
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"--wlog", c.WLog.file != ""}, {"--wset", c.WSet.N > 0}, {"--targets", c.Targets.file != ""}, {"--har", c.HAR.file != ""},
		{"--access-log", c.AccessLog != ""}, {"--wsesslog", c.WSessLog.file != ""},
	} {
		if f.is {
			given = append(given, f.name)
		}
	}
	if len(given) > 1 {
		return nil, fmt.Errorf("%s: want one of them", strings.Join(given, " and "))
	}
	if c.Servers.file != "" {
		if c.URL != "" || c.Server != "" {
			return nil, fmt.Errorf("--servers %s and a URL or --server: want one of them (--uri says what is asked for)", c.Servers.file)
		}
		o.Servers, o.ServersFrom = c.Servers.servers, c.Servers.file
	}
	paced := o.Process != nil || o.Closed > 0
	replayed := false
	switch {
	case c.WLog.file != "":
		o.URIs, o.Rows, o.From, o.Once = c.WLog.uris, c.WLog.rows, c.WLog.file, c.WLog.once
	case c.Targets.file != "":
		o.Requests, o.From = c.Targets.requests, c.Targets.file
	case c.HAR.file != "":
		o.Requests, o.From, o.Once = c.HAR.requests, c.HAR.file, !paced
		if !paced {
			replayed = true
			if o.Process, err = pacer.NewTrace(c.HAR.starts, c.rate()); err != nil {
				return nil, fmt.Errorf("--har %s: %w", o.From, err)
			}
		}
		for _, scheme := range slices.Sorted(maps.Keys(c.HAR.skipped)) {
			warnings = append(warnings, fmt.Sprintf("--har %s: entries with the scheme %s are left out: %d", o.From, scheme, c.HAR.skipped[scheme]))
		}
	case c.AccessLog != "":
		o.From = c.AccessLog
		if o.Log, err = accesslog.Open(c.AccessLog, accesslog.Options{Spread: c.Spread}); err != nil {
			return nil, fmt.Errorf("--access-log: %w", errors.Unwrap(err))
		}
		if !paced {
			replayed = true
			o.Process = o.Log.Process(c.rate())
			if err := o.Process.Schedule(0, 1, 0).Err(); err != nil {
				return nil, fmt.Errorf("--access-log: %w", errors.Unwrap(err))
			}
		}
	}
	if (c.URL != "" || c.Server != "") && o.Requests != nil {
		// A server of one's own is meant instead of those that a file names.
		o.Requests = slices.Clone(o.Requests)
		for i := range o.Requests {
			o.Requests[i].Host, o.Requests[i].Scheme = "", ""
		}
	}
	if len(given) > 0 && o.URI != "" && o.URI != "/" && c.WSet.N == 0 {
		warnings = append(warnings, fmt.Sprintf("%s: %s is not asked for, the file has all URIs", given[0], o.URI))
	}
	if len(o.Body) > 0 && (o.Requests != nil || o.Log != nil || c.WSessLog.file != "") {
		return nil, fmt.Errorf("a body with %s: each of its requests has its own or none", given[0])
	}
	switch {
	case c.Spread && (c.AccessLog == "" || !replayed):
		return nil, errors.New("--spread: want --access-log, without a rate")
	case !replayed && c.Speed > 0:
		return nil, errors.New("--speed: want --har or --access-log, without a rate")
	case !replayed:
	case c.NumCalls > 1 || c.BurstLength > 1 || c.WSess.n > 0 || c.WSessPage.n > 0:
		return nil, fmt.Errorf("%s at its own times and arrivals of several calls: each request has a time of its own, want a rate (-r) or one call", given[0])
	default:
		o.RateText = strings.TrimPrefix(given[0], "--") + ":" + o.From
		if c.Speed > 0 {
			o.RateText += fmt.Sprintf("@%gx", float64(c.Speed))
		}
		// All of it, unless something else is asked for.
		o.NumConns = uint64(c.NumConns)
		o.Forever = o.NumConns == 0 && o.Duration == 0
	}
	return warnings, nil
}

// recorded says whether the requests were recorded, with the times they were made.
func (c *runCmd) recorded() bool { return c.HAR.file != "" || c.AccessLog != "" }

// rate returns how many times as fast as recorded a replay goes.
func (c *runCmd) rate() float64 {
	if c.Speed == 0 {
		return 1
	}
	return float64(c.Speed)
}
