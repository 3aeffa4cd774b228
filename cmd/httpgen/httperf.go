package main

// An httperfOption is a long option of httperf; all are flags of the command run.
type httperfOption struct {
	name    string
	takes   takes
	ignored bool // it is accepted and has no effect
	newer   bool // 0.9.0 does not have it: a prefix that was unique there stays so
}

// httperfOptions are all long options of httperf 0.9.1, by name.
var httperfOptions = []httperfOption{
	{name: "add-header", takes: aValue},
	{name: "add-header-file", takes: aValue, newer: true},
	{name: "burst-length", takes: aValue},
	{name: "client", takes: aValue},
	{name: "close-with-reset"},
	{name: "debug", takes: aValue, ignored: true},
	{name: "failure-status", takes: aValue},
	{name: "help"},
	{name: "hog"},
	{name: "http-version", takes: aValue},
	{name: "max-connections", takes: aValue},
	{name: "max-piped-calls", takes: aValue},
	{name: "method", takes: aValue},
	{name: "myaddr", takes: aValue, newer: true},
	{name: "no-host-hdr"},
	{name: "num-calls", takes: aValue},
	{name: "num-conns", takes: aValue},
	{name: "period", takes: aValue},
	{name: "periodic-stats", newer: true},
	{name: "port", takes: aValue},
	{name: "print-reply", takes: maybeValue},
	{name: "print-request", takes: maybeValue},
	{name: "rate", takes: aValue},
	{name: "recv-buffer", takes: aValue},
	{name: "retry-on-failure"},
	{name: "runtime", takes: aValue, newer: true},
	{name: "send-buffer", takes: aValue},
	{name: "server", takes: aValue},
	{name: "server-name", takes: aValue},
	{name: "servers", takes: aValue, newer: true},
	{name: "session-cookies"},
	{name: "ssl"},
	{name: "ssl-ca-file", takes: aValue, newer: true},
	{name: "ssl-ca-path", takes: aValue, newer: true},
	{name: "ssl-certificate", takes: aValue, newer: true},
	{name: "ssl-ciphers", takes: aValue},
	{name: "ssl-key", takes: aValue, newer: true},
	{name: "ssl-no-reuse"},
	{name: "ssl-protocol", takes: aValue, newer: true},
	{name: "ssl-verify", takes: maybeValue, newer: true},
	{name: "think-timeout", takes: aValue},
	{name: "timeout", takes: aValue},
	{name: "tls-server-name", takes: aValue, newer: true},
	{name: "uri", takes: aValue},
	{name: "use-timer-cache", ignored: true, newer: true},
	{name: "verbose"},
	{name: "version"},
	{name: "wlog", takes: aValue},
	{name: "wsess", takes: aValue},
	{name: "wsesslog", takes: aValue},
	{name: "wsesspage", takes: aValue},
	{name: "wset", takes: aValue},
}

// httperfShort are the short options that mean something else to httperf. They
// hold when the program is called by its name.
var httperfShort = map[rune]string{'d': "debug", 'n': "periodic-stats"}
