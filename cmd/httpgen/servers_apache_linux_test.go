package main

import (
	"strings"
	"testing"
)

const apacheConf = `
DefaultRuntimeDir @dir@
PidFile @dir@/apache.pid
ErrorLog /dev/stderr
LogLevel notice
ServerName localhost
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
LoadModule include_module /usr/lib/apache2/modules/mod_include.so
LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so
LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so
LoadModule alias_module /usr/lib/apache2/modules/mod_alias.so
LoadModule reqtimeout_module /usr/lib/apache2/modules/mod_reqtimeout.so
User nobody
Group nogroup
TypesConfig /dev/null
StartServers 1
ServerLimit 1
ThreadsPerChild 32
MaxRequestWorkers 32
MaxKeepAliveRequests 0
KeepAliveTimeout 20
DocumentRoot @dir@/www
<Directory @dir@/www>
	Options +Includes
	Require all granted
	ForceType text/plain
</Directory>
Alias /included @dir@/www/large
Alias /packed @dir@/www/large
Redirect /moved /page
<Location /included>
	SetOutputFilter INCLUDES
</Location>
<Location /packed>
	AddOutputFilterByType DEFLATE text/plain
</Location>
Listen 127.0.0.1:@main@
<VirtualHost 127.0.0.1:@main@>
</VirtualHost>
Listen 127.0.0.1:@off@
<VirtualHost 127.0.0.1:@off@>
	KeepAlive Off
</VirtualHost>
Listen 127.0.0.1:@three@
<VirtualHost 127.0.0.1:@three@>
	MaxKeepAliveRequests 3
</VirtualHost>
Listen 127.0.0.1:@short@
<VirtualHost 127.0.0.1:@short@>
	KeepAliveTimeout 50ms
</VirtualHost>
Listen 127.0.0.1:@hasty@
<VirtualHost 127.0.0.1:@hasty@>
	RequestReadTimeout body=1
</VirtualHost>
`

func TestServersApache(t *testing.T) {
	t.Parallel()
	s := apache.start(t, apacheConf)
	for _, tt := range []struct {
		name, args, want string
	}{
		{"one call", "http://127.0.0.1:@main@/page -r 600 -n 60", all(60, 1, "200", pages(60))},
		{"several calls", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 3", all(20, 3, "200", pages(60))},
		{"bursts", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 7 --burst-length 3", all(20, 7, "200", pages(140))},
		{"pool", "http://127.0.0.1:@main@/page -r 500 -n 100 -c 4", "started 100 completed 100 connections 4 requests 100 replies 100 200=100 " + pages(100)},
		{"closed model", "http://127.0.0.1:@main@/page --closed 4 -n 100", "started 100 completed 100 connections 4 requests 100 replies 100 200=100 " + pages(100)},
		{"large", "http://127.0.0.1:@main@/large -r 50 -n 5 --num-calls 2", all(5, 2, "200", large(10))},
		{"404", "http://127.0.0.1:@main@/missing -r 200 -n 20 --num-calls 2", all(20, 2, "404")},
		{"302", "http://127.0.0.1:@main@/moved -r 200 -n 20 --num-calls 2", all(20, 2, "302")},
		{"304", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 2 -H If-None-Match:*", all(20, 2, "304")},
		{"head", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 2 -X HEAD", all(20, 2, "200", "body 0")},
		{"head of a packed page", "http://127.0.0.1:@main@/packed -r 50 -n 5 --num-calls 2 -X HEAD -H Accept-Encoding:gzip", all(5, 2, "200", "body 0")},
		{"options", "--server 127.0.0.1 --port @main@ --uri * -X OPTIONS -r 200 -n 20 --num-calls 2", all(20, 2, "200", "body 0")},
		{"trace", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 2 -X TRACE", all(20, 2, "200", "body [0-9]+", "framing [0-9]+")},
		{"post", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 2 -d some=body", all(20, 2, "200", pages(40))},
		{"post, continue", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 2 -d some=body -H Expect:100-continue", all(20, 2, "200", pages(40))},
		{"packed", "http://127.0.0.1:@main@/packed -r 50 -n 5 --num-calls 2 -H Accept-Encoding:gzip", all(5, 2, "200", "body [0-9]+", "framing [0-9]+")},
		{"packed burst", "http://127.0.0.1:@main@/packed -r 50 -n 5 --num-calls 2 --burst-length 2 -H Accept-Encoding:gzip", all(5, 2, "200", "body [0-9]+", "framing [0-9]+")},
		{"not packed", "http://127.0.0.1:@main@/packed -r 50 -n 5 --num-calls 2", all(5, 2, "200", large(10))},
		{"packed, http 1.0", "http://127.0.0.1:@main@/packed -r 50 -n 5 --num-calls 2 -H Accept-Encoding:gzip --http-version 1.0", "started 5 completed 5 connections 5 requests 5 replies 5 unsent 5 lost 5 200=5 body [0-9]+"},
		{"included", "http://127.0.0.1:@main@/included -r 50 -n 5 --num-calls 2", all(5, 2, "200", large(10))},
		{"http 1.0", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 2 --http-version 1.0", all(20, 2, "200", pages(40))},
		{"no host", "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 2 --no-host-hdr", "started 20 completed 20 connections 20 requests 20 replies 20 unsent 20 lost 20 400=20"},
		{"KeepAlive Off", "http://127.0.0.1:@off@/page -r 200 -n 20 --num-calls 3", "started 20 completed 20 connections 20 requests 20 replies 20 unsent 40 lost 40 200=20 " + pages(20)},
		{"KeepAlive Off, pool", "http://127.0.0.1:@off@/page -r 200 -n 20 -c 3", "started 20 completed 20 connections 2[0-3] requests 20 replies 20 200=20 " + pages(20)},
		// Apache counts the requests behind the first one.
		{"MaxKeepAliveRequests", "http://127.0.0.1:@three@/page -r 200 -n 20 --num-calls 5", "started 20 completed 20 connections 20 requests 80 replies 80 unsent 20 lost 20 200=80 " + pages(80)},
		{"MaxKeepAliveRequests, inside a burst", "http://127.0.0.1:@three@/page -r 200 -n 20 --num-calls 5 --burst-length 5", "started 20 completed 0 connections 20 requests .*(reset|closed_early) [0-9]+"},
		{"KeepAliveTimeout in a burst pause", "http://127.0.0.1:@short@/page -r 200 -n 20 --num-calls 5 --burst-length 2 --burst-pause 1", "started 20 completed 20 connections 20 requests 40 replies 40 unsent 60 lost 60 200=40 " + pages(40)},
		{"KeepAliveTimeout in a pool", "http://127.0.0.1:@short@/page -r 5 -n 5 -c 2", "started 5 completed 5 connections [2-7] requests 5 replies 5 200=5 " + pages(5)},
		{"body that does not come", "http://127.0.0.1:@hasty@/page -r 200 -n 20 --num-calls 2 -X POST -H Content-Length:10", "started 20 completed 20 connections 20 requests 20 replies 20 unsent 20 lost 20 408=20"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			counted(t, measure(t, strings.Fields(s.fill(t, tt.args))...), tt.want)
		})
	}
}
