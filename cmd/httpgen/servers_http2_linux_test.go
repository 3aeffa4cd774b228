package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// nginxHTTP2Conf speaks HTTP/2 over TLS and in the clear. @certs@ is replaced
// before.
const nginxHTTP2Conf = nginxTLSHead + `	default_type text/plain; gzip off; keepalive_requests 100000; root @dir@/www;
	ssl_certificate @certs@/server.pem; ssl_certificate_key @certs@/server.pem;
	ssl_protocols TLSv1.2 TLSv1.3; client_max_body_size 10m;
	server {
		listen 127.0.0.1:@tls@ ssl http2 backlog=4096;
		listen 127.0.0.1:@clear@ http2 backlog=4096;
		location = /busy { return 503 "busy\n"; }
		location = /sink { proxy_pass http://127.0.0.1:@old@/thanks; }
	}
	server { listen 127.0.0.1:@few@ http2; http2_max_concurrent_streams 2; }
	server { listen 127.0.0.1:@three@ http2; keepalive_requests 3; }
	server { listen 127.0.0.1:@old@; access_log off; location = /thanks { return 200 "thanks\n"; } }
}
`

func TestServersHTTP2(t *testing.T) {
	t.Parallel()
	certs := t.TempDir()
	pemFile(t, filepath.Join(certs, "server.pem"))
	s := nginx.start(t, strings.ReplaceAll(nginxHTTP2Conf, "@certs@", certs))
	var runs []logged
	for _, over := range []struct{ name, base, args string }{
		{"TLS", "https://127.0.0.1:@tls@", "--http2 --cacert " + certs + "/server.pem"},
		{"in the clear", "http://127.0.0.1:@clear@", "--http2-prior-knowledge"},
	} {
		for _, tt := range []struct{ name, path, args, want string }{
			{"one call", "/page", "-r 300 -n 60", all(60, 1, "200", pages(60), "framing [0-9]+")},
			{"several calls", "/page", "-r 100 -n 30 --num-calls 4", all(30, 4, "200", pages(120), "framing [0-9]+")},
			{"bursts", "/page", "-r 100 -n 20 --num-calls 30 --burst-length 20", all(20, 30, "200", pages(600), "framing [0-9]+")},
			{"large", "/large", "-r 20 -n 4 --num-calls 3 --burst-length 3", all(4, 3, "200", large(12), "framing [0-9]+")},
			{"pool", "/page", "-r 1000 -n 500 -c 4", "started 500 completed 500 connections 4 requests 500 replies 500 200=500 " + pages(500) + " framing [0-9]+"},
			{"closed model", "/page", "--closed 4 -n 100", "started 100 completed 100 connections 4 requests 100 replies 100 200=100 " + pages(100) + " framing [0-9]+"},
			{"closed model on a pool", "/page", "--closed 40 -c 4 -n 1000", "started 1000 completed 1000 connections 4 requests 1000 replies 1000 200=1000 " + pages(1000) + " framing [0-9]+"},
			{"head", "/page", "-r 100 -n 20 --num-calls 3 -X HEAD", all(20, 3, "200", "body 0", "framing [0-9]+")},
			{"post", "/sink", "-r 100 -n 20 --num-calls 3 -d some=body", all(20, 3, "200", "body 420", "framing [0-9]+")},
			{"503", "/busy", "-r 100 -n 20 --num-calls 3", all(20, 3, "503")},
		} {
			runs = append(runs, logged{name: tt.name + ", " + over.name, args: over.base + tt.path + " " + tt.args + " " + over.args, want: tt.want, host: strings.SplitN(over.base, "//", 2)[1]})
		}
	}
	three := " --http2-prior-knowledge -r 100"
	runs = append(runs, logged{
		name: "GOAWAY after three", args: "http://127.0.0.1:@three@/page -n 20 --num-calls 5" + three,
		want: "started 20 completed 20 connections 20 requests 60 replies 60 unsent 40 lost 40 200=60 " + pages(60) + " framing [0-9]+", host: "127.0.0.1:@three@",
	}, logged{
		name: "sessions that survive it", args: "http://127.0.0.1:@three@/page --wsess 20,7,0 --burst-length 2" + three,
		want: "started 20 completed 20 connections [0-9]+ requests 1[4-9][0-9] replies 140 200=140 " + pages(140) + " framing [0-9]+", host: "127.0.0.1:@three@",
	}, logged{
		name: "pool that does", args: "http://127.0.0.1:@three@/page -c 2 -n 60" + three,
		want: "started 60 completed 60 connections [0-9]+ requests 60 replies 60 200=60 " + pages(60) + " framing [0-9]+", host: "127.0.0.1:@three@",
	}, logged{
		name: "few streams at once", args: "http://127.0.0.1:@few@/page --http2-prior-knowledge -r 50 -n 10 --num-calls 20 --burst-length 20",
		want: all(10, 20, "200", pages(200), "framing [0-9]+"), host: "127.0.0.1:@few@",
	})
	for name, lines := range s.agree(t, runs) {
		for _, e := range lines {
			if e.Protocol != "HTTP/2.0" {
				t.Errorf("%s: logged as %s", name, e.Protocol)
			}
		}
	}
}

func TestServersHTTP2HAProxy(t *testing.T) {
	t.Parallel()
	haproxy.path(t)
	certs := t.TempDir()
	pemFile(t, filepath.Join(certs, "server.pem"))
	web := nginx.start(t, nginxConf)
	s := haproxy.start(t, fmt.Sprintf(`
defaults
	mode http
	timeout connect 5s
	timeout client 20s
	timeout server 20s
frontend main
	bind 127.0.0.1:@main@ proto h2
	bind 127.0.0.1:@tls@ ssl crt %[2]s/server.pem alpn h2
	bind 127.0.0.1:@one@ ssl crt %[2]s/server.pem alpn http/1.1
	http-request return status 200 content-type text/plain string "hello" if { path /hello }
	http-request deny deny_status 429 if { path /deny }
	default_backend web
backend web
	server web 127.0.0.1:%[1]d
`, web.ports["main"], certs))
	tls := " --http2 --cacert " + certs + "/server.pem"
	for _, tt := range []struct{ name, args, want string }{
		{"one call", "http://127.0.0.1:@main@/page --http2-prior-knowledge -r 300 -n 60", all(60, 1, "200", pages(60), "framing [0-9]+")},
		{"bursts", "http://127.0.0.1:@main@/page --http2-prior-knowledge -r 100 -n 20 --num-calls 30 --burst-length 10", all(20, 30, "200", pages(600), "framing [0-9]+")},
		{"pool", "http://127.0.0.1:@main@/hello --http2-prior-knowledge -r 1000 -n 500 -c 4", "started 500 completed 500 connections 4 requests 500 replies 500 200=500 body 2500 framing [0-9]+"},
		{"deny", "http://127.0.0.1:@main@/deny --http2-prior-knowledge -r 100 -n 20 --num-calls 3", all(20, 3, "429")},
		{"large over TLS", "https://127.0.0.1:@tls@/large -r 20 -n 4 --num-calls 3 --burst-length 3" + tls, all(4, 3, "200", large(12), "framing [0-9]+")},
		{"pool over TLS", "https://127.0.0.1:@tls@/page -r 1000 -n 500 -c 4" + tls, "started 500 completed 500 connections 4 requests 500 replies 500 200=500 " + pages(500) + " framing [0-9]+"},
		{"post over TLS", "https://127.0.0.1:@tls@/relay -r 100 -n 20 --num-calls 3 -d some=body" + tls, all(20, 3, "200", "body 420", "framing [0-9]+")},
		{"no agreement", "https://127.0.0.1:@one@/page -r 100 -n 20" + tls, "started 20 completed 0 connections 0 requests 0 replies 0 failed connections 20 unsent 20 lost 20 tls 20"},
		{"HTTP/1 to it", "http://127.0.0.1:@main@/page -r 100 -n 20", "started 20 completed 0 connections 20 requests 20 replies 0 unanswered 20 lost 20 (protocol|closed_early|reset) .*"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			counted(t, measure(t, strings.Fields(s.fill(t, tt.args))...), tt.want)
		})
	}
}
