package main

import (
	"fmt"
	"strings"
	"testing"
)

// haproxyConf stands in front of a web server at the first port; nobody listens
// at the second one.
const haproxyConf = `
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 20s
	timeout queue 20s
	timeout tarpit 50ms
	timeout http-request 20s
	retries 0
frontend main
	bind 127.0.0.1:@main@ backlog 4096
	http-request return status 200 content-type text/plain string "hello" if { path /hello }
	http-request return status 503 content-type text/plain string "busy" if { path /busy }
	http-request redirect location /page if { path /moved }
	http-request deny deny_status 429 if { path /deny }
	http-request tarpit if { path /tarpit }
	http-request reject if { path /reject }
	http-request silent-drop if { path /silent }
	use_backend down if { path /down }
	use_backend narrow if { path /narrow }
	use_backend stuck if { path /held }
	http-request set-path /page if { path /narrow }
	default_backend web
frontend few
	bind 127.0.0.1:@few@ backlog 4096
	maxconn 2
	default_backend web
frontend once
	bind 127.0.0.1:@once@ backlog 4096
	option httpclose
	default_backend web
frontend rejecting
	bind 127.0.0.1:@rejecting@ backlog 4096
	tcp-request connection reject
	default_backend web
frontend tunnel
	bind 127.0.0.1:@tunnel@ backlog 4096
	mode tcp
	default_backend nothing
backend web
	server web 127.0.0.1:%[1]d
backend narrow
	server web 127.0.0.1:%[1]d maxconn 1
backend stuck
	timeout queue 100ms
	server web 127.0.0.1:%[1]d maxconn 1
backend down
	server none 127.0.0.1:%[2]d
backend nothing
	mode tcp
	server none 127.0.0.1:%[2]d
`

func TestServersHAProxy(t *testing.T) {
	t.Parallel()
	haproxy.path(t)
	web := nginx.start(t, nginxConf)
	s := haproxy.start(t, fmt.Sprintf(haproxyConf, web.ports["main"], refusing(t)))
	hold(t, s, "main", "/held")
	for _, tt := range []struct {
		name, args, want string
	}{
		{"one call", "http://127.0.0.1:@main@/page -r 600 -n 60", all(60, 1, "200", pages(60))},
		{"several calls", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 3", all(20, 3, "200", pages(60))},
		{"bursts", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 7 --burst-length 3", all(20, 7, "200", pages(140))},
		{"pool", "http://127.0.0.1:@main@/page -r 500 -n 100 -c 4", "started 100 completed 100 connections 4 requests 100 replies 100 200=100 " + pages(100)},
		{"closed model", "http://127.0.0.1:@main@/page --closed 4 -n 100", "started 100 completed 100 connections 4 requests 100 replies 100 200=100 " + pages(100)},
		{"large", "http://127.0.0.1:@main@/large -r 50 -n 5 --num-calls 2", all(5, 2, "200", large(10))},
		{"chunked", "http://127.0.0.1:@main@/chunks -r 50 -n 5 --num-calls 2", all(5, 2, "200", large(10), "framing [0-9]+")},
		{"head", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 3 -X HEAD", all(20, 3, "200", "body 0")},
		{"post", "http://127.0.0.1:@main@/relay -r 200 -n 20 --num-calls 3 -d some=body", all(20, 3, "200", "body 420")},
		{"http 1.0", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 2 --http-version 1.0", all(20, 2, "200", pages(40))},
		{"http 1.0, ended by the close", "http://127.0.0.1:@main@/chunked -r 200 -n 20 --num-calls 2 --http-version 1.0", "started 20 completed 20 connections 20 requests 20 replies 20 unsent 20 lost 20 200=20 " + pages(20)},
		{"return", "http://127.0.0.1:@main@/hello -r 200 -n 20 --num-calls 3", all(20, 3, "200", "body 300")},
		{"return, bursts", "http://127.0.0.1:@main@/hello -r 200 -n 20 --num-calls 5 --burst-length 2", all(20, 5, "200", "body 500")},
		{"return 503", "http://127.0.0.1:@main@/busy -r 200 -n 20 --num-calls 3", all(20, 3, "503")},
		{"redirect", "http://127.0.0.1:@main@/moved -r 200 -n 20 --num-calls 3", all(20, 3, "302")},
		{"deny", "http://127.0.0.1:@main@/deny -r 200 -n 20 --num-calls 3", all(20, 3, "429")},
		{"tarpit", "http://127.0.0.1:@main@/tarpit -r 200 -n 20 --num-calls 3", all(20, 3, "500")},
		{"reject", "http://127.0.0.1:@main@/reject -r 200 -n 20 --num-calls 3", "started 20 completed 0 connections 20 requests 20 replies 0 unanswered 20 unsent 40 lost 60 closed_early 20"},
		// Without the right to drop a connection silently haproxy resets it.
		{"silent-drop", "http://127.0.0.1:@main@/silent -r 200 -n 20 --num-calls 3 --timeout 0.5 --drain 20", "started 20 completed 0 connections 20 requests 20 replies 0 unanswered 20 unsent 40 lost 60 (reply_timeout|reset) 20"},
		// The reset may come before the connection is seen to stand.
		{"tcp reject", "http://127.0.0.1:@rejecting@/page -r 200 -n 20 --num-calls 3", "started 20 completed 0 connections [0-9]+ requests [0-9]+ replies 0 .*(reset|closed_early) [0-9]+"},
		{"backend down", "http://127.0.0.1:@main@/down -r 200 -n 20 --num-calls 3", all(20, 3, "503")},
		// The second request may be repeated, so haproxy closes instead of answering for the server.
		{"backend hangs up", "http://127.0.0.1:@main@/hangup -r 200 -n 20 --num-calls 3", "started 20 completed 0 connections 20 requests 40 replies 20 unanswered 20 unsent 20 lost 40 502=20 closed_early 20"},
		{"tcp, backend down", "http://127.0.0.1:@tunnel@/page -r 200 -n 20 --num-calls 3", "started 20 completed 0 connections [0-9]+ requests [0-9]+ replies 0 .*(reset|closed_early) [0-9]+"},
		{"server's maxconn", "http://127.0.0.1:@main@/narrow -r 600 -n 60 --num-calls 2", all(60, 2, "200", pages(120))},
		{"server's maxconn held", "http://127.0.0.1:@main@/held -r 200 -n 20 --num-calls 2", all(20, 2, "503")},
		{"frontend's maxconn", "http://127.0.0.1:@few@/page -r 600 -n 60 --num-calls 2", all(60, 2, "200", pages(120))},
		{"httpclose", "http://127.0.0.1:@once@/page -r 200 -n 20 --num-calls 3", "started 20 completed 20 connections 20 requests 20 replies 20 unsent 40 lost 40 200=20 " + pages(20)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			counted(t, measure(t, strings.Fields(s.fill(t, tt.args))...), tt.want)
		})
	}
}
