package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// asCommand makes the test binary behave as the command.
const asCommand = "HTTPGEN_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// call carries out a command line in this process.
func call(argv ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = command(argv, &out, &err)
	return code, out.String(), err.String()
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args string
		want string // part of the message
	}{
		{"--rate -1", `--rate: rate "-1": negative`},
		{"--rate=-1", `--rate: rate "-1": negative`},
		{"--rate 1e400", `rate "1e400": above 1e9`},
		{"--rate", "--rate: it needs a value"},
		{"--num 5", "option '--num' is ambiguous; possibilities: '--num-calls' '--num-conns'"},
		{"--serv h", "possibilities: '--server' '--server-name' '--servers'"},
		{"--connec 5", "possibilities: '--connect-timeout' '--connections'"},
		{"--max-i", "--max-inflight: it needs a value"},
		{"--data=a --data-file main.go", "--data and --data-file can't be used together"},
		{"--num-conns 0", `--num-conns: "0": want a whole number from 1`},
		{"--num-conns -1", `--num-conns: "-1": want a whole number from 1`},
		{"--num-calls 0", `--num-calls: "0": want a whole number from 1`},
		{"--burst-length 0", `--burst-length: "0": want a whole number from 1`},
		{"--port 70000", `--port: "70000": want a port`},
		{"--client 2/2", `--client: "2/2": want I/N`},
		{"--timeout -5", `--timeout: "-5": negative`},
		{"--think-timeout 5x", `--think-timeout: "5x": not a duration`},
		{"--hog=yes", `--hog: it takes no value, and "yes" was given`},
		{"-q=1", "unknown option -="},
		{"-rate=50", "-rate=50: a long option has two dashes: --rate=50"},
		{"-num-conn 50", "a long option has two dashes: --num-conn"},
		{"-k http://h/", "URL http://h/: TLS was asked for, want https"},
		{"--ssl http://h/", "URL http://h/: TLS was asked for, want https"},
		{"--tls-min 1.3 http://h/", "URL http://h/: TLS was asked for, want https"},
		{"--ssl-verify=yes http://h/", "URL http://h/: TLS was asked for, want https"},
		{"-n", "--num-conns: it needs a value"},
		{"--frobnicate", "unknown flag --frobnicate"},
		{"--=5", "unknown flag --"},
		{"--conections 5", `did you mean "--connections"?`},
		{"http://u:secret@localhost/", "http://u:xxxxx@localhost/: a user in it"},
		{"http://h/ http://i/", "unexpected argument http://i/"},
		{"http://h:0/", "port 0: want 1 to 65535"},
		{"http://h:70000/", "port 70000: want 1 to 65535"},
		{"http://", "want http://HOST"},
		{"http://h.test/ --spread", "--spread: want --access-log"},
		{"http://h.test/ --access-log testdata/three.log -r 5 --spread", "--spread: want --access-log"},
		{"http://h.test/ --http2", "--http2: want https, or --http2-prior-knowledge"},
		{"https://h.test/ --http2 --http-version 1.0", "--http-version 1.0 and HTTP/2: want one of them"},
		{"http://h.test/ -r 5 -c 2 --max-streams 5", "5 calls at once on a connection"},
		{"http://h.test/ --closed 4 -c 2", "want one of them"},
		{"http://127.0.0.1/ --metrics-linger scrape", "want --web.listen-address"},
		{"http://127.0.0.1/ --web.listen-address nowhere:x", "nowhere:x"},
		{"http://127.0.0.1/ --web.listen-address :0 --web.config.file testdata/none", "testdata/none"},
		{"http://h.test/ --metrics-linger soon --web.listen-address :0", "soon"},
		{"http://127.0.0.1/ --push-native", "want --push"},
		{"http://h.test/ --push http://127.0.0.1:1/", "want remote-write=URL or pushgateway=URL"},
		{"http://127.0.0.1/ --push remote-write=ftp://127.0.0.1/", "RemoteWrite"},
		{"http://h.test/ --push remote-write=http://127.0.0.1:1/ --push-label a", "want NAME=VALUE"},
		{"http://127.0.0.1/ --push remote-write=http://127.0.0.1:1/ --push remote-write=http://127.0.0.1:2/", "want each kind once"},
		{"dashboard", "--out"},
		{"serv", "the commands are run, sweep, compare, fair, serve, schema, dashboard and version"},
		{"http://h/ --server i", "--server i: the URL says h"},
		{"http://h/ --port 81", "--port 81: the URL says 80"},
		{"http://h/a --uri /b", "--uri /b: the URL says /a"},
		{"--closed 2 --rate 5", "--closed 2 with a rate of 5"},
		{"--closed 2 -c 5", "--closed 2 and --connections 5"},
		{"-c 5", "--connections 5: a pool wants a rate"},
		{"-c 5 --targets testdata/two.targets", "--connections 5: a pool wants a rate"},
		{"-c 5 -r 5 --num-calls 2", "on a pool an arrival is one call"},
		{"-c 5 -r 5 --no-keepalive", "--no-keepalive and --connections"},
		{"--close-mode fin --close-with-reset", "want one of them"},
		{"--close-mode never", `--close-mode must be one of "auto","fin","rst"`},
		{"-4 -6", "can't be used together"},
		{"-H Content-Type:a/b -T c/d", "--content-type c/d: a header says a/b"},
		{"-H nothing", "--header:"},
		{"--add-header nothing", "--add-header:"},
		{"--data @-", "standard input is not read"},
		{"--data @testdata/none", "no such file"},
		{"--http-version 2", `--http-version: "2": want 1.0 or 1.1`},
		{"--expect-status 99", "--expect-status:"},
		{"--myaddr 127.0.0.9-127.0.0.2", "want a range FROM-TO of one family"},
		{"--myaddr 127.0.0.1/8", "want an address"},
		{"-o xml", `--output: "xml": want text`},
		{"-o json=", "the name of the file is empty"},
		{"-o json -o csv", "json goes to standard output already"},
		{"-o json=a -o csv=./a", "the file is given twice"},
		{"-o json --print-reply", "which is to be json"},
		{"--print-reply=all", `--print-reply: "all": want header or body`},
		{"--catch-up 1x", "--catch-up:"},
		{"--spin maybe", "auto or none"},
		{"--start-at tomorrow", "--start-at:"},
		{"--ssl=yes", `--ssl: it takes no value, and "yes" was given`},
		{"--ssl-verify=maybe", `--ssl-verify: "maybe": want yes or no`},
		{"--ssl-proto SSLv2", "--ssl-protocol: SSLv2 is broken and was removed from all servers worth measuring: want TLSv1.0 to TLSv1.3, or auto"},
		{"--ssl-proto SSLv3", "--ssl-protocol: SSLv3 is broken"},
		{"--ssl-protocol TLSv1.4", `--ssl-protocol: "TLSv1.4": want TLSv1.0, TLSv1.1, TLSv1.2, TLSv1.3 or auto`},
		{"--ssl-protocol auto --tls-min 1.2", "--ssl-protocol and --tls-min or --tls-max: want one of them"},
		{"--tls-min 1.3 --tls-max 1.2", "TLS versions from TLS 1.3 to TLS 1.2: want the lower one first"},
		{"--tls-max 1.1", "TLS versions from TLS 1.2 to TLS 1.1: want the lower one first"},
		{"--cacert testdata/none", "no such file"},
		{"--cacert main.go", `CA file "main.go": no certificate in it, want PEM`},
		{"--ssl-ca-path testdata", `CA path "testdata": no certificate in it, want files in PEM`},
		{"--cert main.go", `certificate "main.go" with key "main.go"`},
		{"--ssl-ciphers AES", `cipher suite "AES": want names separated by colons`},
		{"--wsess 5", `--wsess: "5": want N1,N2,X`},
		{"--wsess 0,1,1", `--wsess: "0": want a whole number from 1`},
		{"--wsess 1,0,1", `--wsess: "0": want a whole number from 1`},
		{"--wsess 1,2,x", `--wsess: "x": not a duration`},
		{"--wsess 1,2,-1", `--wsess: "-1": negative`},
		{"--wsesspage 1,2", `--wsesspage: "1,2": want N1,N2,X`},
		{"--wsesslog 1,2", `--wsesslog: "1,2": want N,X,FILE`},
		{"--wsesslog 1,2,", `--wsesslog: "1,2,": want N,X,FILE`},
		{"--wsesslog 0,2,testdata/three.session", `--wsesslog: "0": want a whole number from 1`},
		{"--wsesslog 1,x,testdata/three.session", `--wsesslog: "x": not a duration`},
		{"--wsesslog 1,2,-", `--wsesslog: open -: no such file`},
		{"--wsesslog 1,2,testdata/none", "--wsesslog: open testdata/none: no such file"},
		{"--wsesslog 1,2,/dev/zero", "--wsesslog: /dev/zero: a device, want a file"},
		{"--wsesslog 1,2,testdata/bad.session", "--wsesslog: testdata/bad.session:2:4: think time that is none"},
		{"--wsess 1,2,3 --wsesslog 1,2,testdata/three.session", "--wsess and --wsesslog: want one of them"},
		{"--wsess 1,2,3 -r 5 -c 2", "--wsess with --connections 2: a session opens its own connections"},
		{"--wsess 1,2,3 --burst-pause 1", "--burst-pause with --wsess"},
		{"--wsess 1,2,3 --failure-status 99", `--failure-status: status "99": want codes`},
		{"--wsesslog 1,2,testdata/three.session -d x", "a body with --wsesslog: each of its requests has its own or none"},
		{"--wsesslog 1,2,testdata/three.session --wset 5,1", "--wset and --wsesslog: want one of them"},
		{"--max-piped-calls 0", `--max-piped-calls: "0": want a whole number from 1`},
		{"--max-connections 5 --max-inflight 6", "--max-connections 5 and --max-inflight 6: without sessions both say the same"},
		{"--session-cookies -H Cookie:secret=1", "--session-cookies and a Cookie header: want one of them"},
		{"--location=yes", `--location: it takes no value, and "yes" was given`},
		{"--servers testdata/none", "--servers: open testdata/none: no such file"},
		{"--servers testdata/bad.servers", `--servers: testdata/bad.servers:2:1: server "127.0.0.2:port" with a port that is none`},
		{"--servers testdata/two.servers --server h", "--servers testdata/two.servers and a URL or --server: want one of them"},
		{"--servers testdata/two.servers http://h/", "--servers testdata/two.servers and a URL or --server: want one of them"},
		{"--servers testdata/two.servers -c 2 -r 5", "2 servers on kept-open connections"},
		{"--servers testdata/two.servers --targets testdata/two.targets", "2 servers and requests that name theirs"},
		{"--targets testdata/none", "--targets: open testdata/none: no such file"},
		{"--targets testdata/bad.targets", "--targets: testdata/bad.targets:3:5: URL of another scheme"},
		{"--targets testdata/two.targets --wlog y,testdata/bad.list", "--wlog and --targets: want one of them"},
		{"--targets testdata/two.targets -d x", "a body with --targets: each of its requests has its own or none"},
		{"--targets testdata/two.targets --num-calls 2", "testdata/two.targets names 2 servers, and 2 calls are to share a connection"},
		{"--har testdata/bad.har", "--har: testdata/bad.har:1:22: malformed JSON"},
		{"--har testdata/two.har --num-calls 2", "--har at its own times and arrivals of several calls"},
		{"--har testdata/two.har --wsess 2,2,1", "--har at its own times and arrivals of several calls"},
		{"--access-log testdata/none", "--access-log: stat testdata/none: no such file"},
		{"--access-log testdata", "--access-log: testdata: a directory: want a regular file"},
		{"--access-log testdata/bad.log", "--access-log: testdata/bad.log:2:7: "},
		{"--access-log testdata/three.log --burst-length 2 --num-calls 2", "--access-log at its own times and arrivals of several calls"},
		{"--access-log testdata/three.log -r 5 --wsess 2,2,1", "testdata/three.log in bursts or sessions"},
		{"--access-log testdata/three.log --speed 0", `--speed: "0": want a number from 0.001`},
		{"--access-log testdata/three.log --speed -1", `--speed: "-1": want a number from 0.001`},
		{"--access-log testdata/three.log --speed fast", `--speed: "fast": want a number from 0.001`},
		{"--access-log testdata/three.log --speed 2 -r 5", "--speed: want --har or --access-log, without a rate"},
		{"--speed 2", "--speed: want --har or --access-log, without a rate"},
		{"--wlog y", `--wlog: "y": want y,FILE (again and again) or n,FILE (once)`},
		{"--wlog y,", `--wlog: "y,": want y,FILE`},
		{"--wlog yes,main.go", `--wlog: "yes,main.go": want y,FILE`},
		{"--wlog Y,main.go", `--wlog: "Y,main.go": want y,FILE`},
		{"--wlog y,-", "--wlog: \"-\": standard input is not read"},
		{"--wlog y,testdata/none", "--wlog: open testdata/none: no such file"},
		{"--wlog n,testdata/blank.list", `--wlog: "testdata/blank.list": it holds no URI, want one a line or one before each NUL`},
		{"--wlog n,testdata/bad.list", `testdata/bad.list:3:3: URI "/b c": want no blanks`},
		{"--wlog y,testdata/bad.list -X GE(T", `method "GE(T": want a token`},
		{"--wlog y,testdata/bad.list --wset 5,1", "--wlog and --wset: want one of them"},
		{"--wset 10", `--wset: "10": want N,X: files from 1 to 1000000`},
		{"--wset 0,1", `--wset: "0,1": want N,X`},
		{"--wset 1000001,1", `--wset: "1000001,1": want N,X`},
		{"--wset 10,1.1", `--wset: "10,1.1": want N,X`},
		{"--wset 10,-0.1", `--wset: "10,-0.1": want N,X`},
		{"--wset 10,x", `--wset: "10,x": want N,X`},
		{"--wset 2,1 --uri /a\x7f", `URI "/a\x7f": want no blanks`},
		{"--periodic-stats=1", `--periodic-stats: it takes no value, and "1" was given`},
		{"--add-header-file -", "--add-header-file: \"-\": standard input is not read"},
		{"--add-header-file testdata/none", "--add-header-file: open testdata/none: no such file"},
		{"--add-header-file testdata", "--add-header-file: read testdata: is a directory"},
		{"--add-header-file /dev/zero", "--add-header-file: /dev/zero: a device, want a file"},
		{"--add-header-file testdata/bad.list", "--add-header-file: testdata/bad.list:1: want NAME: VALUE"},
		{"--add-header-file testdata/bad.header", "--add-header-file: testdata/bad.header:2: a NUL"},
		{"--unix-socket testdata/none", `--unix-socket "testdata/none": it does not exist, want the path of a socket`},
		{"--unix-socket testdata", `--unix-socket "testdata": it is no socket, want the path of a socket`},
		{"--unix-socket main.go/x", "--unix-socket: stat main.go/x: not a directory"},
		{"sweep", "no URL: want http://HOST"},
		{"sweep ftp://h/", `URL "ftp://h/": want http://HOST`},
		{"sweep http://127.0.0.1/ --slo p99", `--slo: objective "p99": condition "p99": want METRIC<LIMIT`},
		{"sweep http://127.0.0.1/ --width 95%", "width 0.95: want 0.001 to 0.9"},
		{"sweep http://127.0.0.1/ --factor 1", "factor 1: want 1.01 to 100"},
		{"sweep http://127.0.0.1/ --from 100 --to 50", "to 50: want at least from, 100"},
		{"sweep http://127.0.0.1/ --from 0", `--from: "0": want a number above 0`},
		{"sweep http://127.0.0.1/ --rates 1,x", `--rates: "1,x": "x": want numbers above 0 with commas`},
		{"sweep http://127.0.0.1/ --rates 1,2 --from 5", "--rates with --from"},
		{"sweep http://127.0.0.1/ --order down", "--order down without --rates"},
		{"sweep http://127.0.0.1/ --order left", `--order must be one of "up","down","shuffle"`},
		{"sweep http://127.0.0.1/ --by threads", `--by must be one of "rate","connections"`},
		{"sweep http://127.0.0.1/ --by connections --rates 1.5", "rate 1.5: want 0.001"},
		{"sweep http://127.0.0.1/ --by connections --beyond 3x", "overload of 3 times a number of connections"},
		{"sweep http://127.0.0.1/ --by connections -c 5", "--closed 1 and --connections 5"},
		{"sweep http://127.0.0.1/ --beyond 3y", `--beyond: "3y": want a multiple such as 3x`},
		{"sweep http://127.0.0.1/ --step 5s", "--step 5s without --beyond"},
		{"sweep http://127.0.0.1/ --beyond 3x --step 1s", "step 1s of the overload profile: want 4s to 1h"},
		{"sweep http://127.0.0.1/ --repeat 101", "repeat 101: want 1 to 100"},
		{"sweep http://127.0.0.1/ --wlog n,testdata/two.list", "--wlog n,testdata/two.list: a trial is as long as it is"},
		{"sweep http://127.0.0.1/ -c 5 --num-calls 2", "on a pool an arrival is one call"},
		{"sweep http://127.0.0.1/ -o httperf", `--output: "httperf": want text, json or csv`},
		{"sweep http://127.0.0.1/ -o json=", "the name of the file is empty"},
		{"sweep http://127.0.0.1/ -o json -o csv", "json goes to standard output already"},
		{"sweep http://127.0.0.1/ --out a --resume b", "--out a and --resume b: want one of them"},
		{"sweep http://127.0.0.1/ --out testdata", `folder "testdata" is not empty`},
		{"sweep http://127.0.0.1/ --resume testdata", "plan.json: no such file"},
		{"sweep http://127.0.0.1/ --metrics-linger 1", "want --web.listen-address"},
		{"sweep http://127.0.0.1/ --num-conns 5", "unknown flag --num-conns"},
		{"sweep http://127.0.0.1/ --re 5", "option '--re' is ambiguous"},
		{"compare", "no load: want --rate RATE"},
		{"compare --rate 5", "no arm: want NAME=URL"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/", "no load: want --rate RATE"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --closed 5", "--rate 5 and --closed 5"},
		{"compare a=http://127.0.0.1/ --rate 5", "1 arms: want at least 2"},
		{"compare a=http://127.0.0.1/ a=http://127.0.0.1/ --rate 5", `arm 2 with the name "a": want a name of its own`},
		{"compare http://127.0.0.1/ b=http://127.0.0.1/ --rate 5", "a URL without a name: want NAME=URL"},
		{"compare http://u:secret@127.0.0.1/ --rate 5", "a URL without a name: want NAME=URL"},
		{"compare a=http://u:secret@127.0.0.1/ --rate 5", "arm a: URL http://u:xxxxx@127.0.0.1/: a user in it"},
		{"fair --client name=a,url=ftp://u:secret@127.0.0.1/", "--client: url: ftp://u:xxxxx@127.0.0.1/: a user in it"},
		{"compare =http://127.0.0.1/ b=http://127.0.0.1/ --rate 5", "want NAME=URL, a file, or NAME=FILE"},
		{"compare a=ftp://127.0.0.1/ b=http://127.0.0.1/ --rate 5", `arm a: URL "ftp://127.0.0.1/"`},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --blocks 3", "3 blocks cannot decide 1 comparisons"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --baseline c", `baseline "c": want one of the arms`},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --metric p98", `metric "p98": want one of p50`},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --level 2", "level 2: want 0.5 or more"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --allow x", `--allow: "x": want a share such as 2%`},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --strict", "--strict without --allow"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --ordered", "a trend over 2 arms: want 3"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --trial 1ms", "trial of 1ms: want 100ms to 24h"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --setup secret", "--setup: want NAME=VALUE"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --setup c=true", "--setup c: want the name of an arm"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --setup a=true --setup a=false", "--setup a: given twice"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --ready a=127.0.0.1", `--ready a: "127.0.0.1": want http://HOST`},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --ready-timeout 5", "--ready-timeout 5s without --ready"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --pid a=x", `--pid a: "x": want the number of a process`},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --rate 5 --arm-header a=Host", "--arm-header a:"},
		{"compare a=http://127.0.0.1/ b=http://127.0.0.1/ --closed 5 -c 5", "arm a: --closed 5 and --connections 5"},
		{"compare --arms testdata/none --rate 5", "--arms: open testdata/none: no such file"},
		{"compare --arms testdata/bad.list --rate 5", "--arms: testdata/bad.list: "},
		{"compare a=http://127.0.0.1/ testdata/none", "testdata/none beside arms with URLs"},
		{"compare testdata/none", "open testdata/none: no such file"},
		{"compare testdata/bad.list testdata/none", "testdata/bad.list: "},
		{"compare testdata/none --rate 5", "nothing is run, want none of these"},
		{"fair http://127.0.0.1/", "no clients: want --clients N"},
		{"fair http://127.0.0.1/ --clients 3", "client c1 without a rate"},
		{"fair http://127.0.0.1/ --clients 1 --rate 5", "1 clients: want 2 to 1000"},
		{"fair http://127.0.0.1/ --clients 1001 --rate 5", "--clients 1001: want 2 to 1000"},
		{"fair --clients 3 --rate 5", "client c1: no URL: want http://HOST"},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --weights 1:2", "--weights: 2 of them for 3 clients"},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --weights 1:2:x", `--weights: "1:2:x": "x": want numbers above 0 with colons`},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --client name=a", "--clients 3 and 1 clients by --client"},
		{"fair http://127.0.0.1/ --client name=a --client name=a --rate 5", `client 2 with the name "a"`},
		{"fair http://127.0.0.1/ --client name=a,weight=2 --client name=b --rate 5 --weights 1:2", "--weights: client a says weight=2"},
		{"fair http://127.0.0.1/ --client rate=5", "--client: no name: want name=NAME"},
		{"fair http://127.0.0.1/ --client secret", "--client: want name=NAME"},
		{"fair http://127.0.0.1/ --client name=a,name=b", "name=b: given twice"},
		{"fair http://127.0.0.1/ --client name=a,rate=x", `--client: rate: "x": want a number above 0`},
		{"fair http://127.0.0.1/ --client name=a,url=h", `--client: url: "h": want http://HOST`},
		{"fair http://127.0.0.1/ --client name=a,header=x", "--client: header:"},
		{"fair http://127.0.0.1/ --client name=a,source=x/1 --client name=b --rate 5", `client a: --myaddr "x/1"`},
		{"fair http://127.0.0.1/ --clients-file testdata/none", "--clients-file: open testdata/none: no such file"},
		{"fair http://127.0.0.1/ --clients-file testdata/blank.list", `--clients-file: "testdata/blank.list": it holds no client`},
		{"fair http://127.0.0.1/ --clients-file testdata/bad.list", "--clients-file: testdata/bad.list:1: want name=NAME"},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --join x@5", "--join x@5s: want the name of a client"},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --join c1", `--join: "c1": want NAME@TIME`},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --join c1@5 --leave c1@4", "joins at 5s and leaves at 4s"},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --leave c1@5 --leave c1@4", "--leave c1@4s: given twice"},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --repeat 3", "3 repeats: want 1, or 6"},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --repeat 7 --rotate", "7 repeats of 3 clients that change places"},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --margin 2", "share margin 2: want more than 0"},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --duration 5 --num-conn 5", "--duration 5s and --num-conns 5: want one of them"},
		{"fair http://127.0.0.1/ --clients 3 --rate 5 --num-conn 1", "want a second at least"},
		{"schema none", `schema "none": want one of result-1, window-1`},
		{"version 1", "unexpected argument 1"},
		{"serve --status 100", "status 100: want 200 to 599"},
		{"serve --rate 5", "unknown flag --rate"},
		{"serve :1 --listen :2", "the argument says :1"},
		{"serve --overload none", "want reject, reset or accept"},
		{"serve --freeze 1s", "want LENGTH@START"},
		{"serve --service-time 1", "want a duration"},
		{"serve --s 1", "ambiguous"},
		{"serve --deaf --silent", "--deaf and --silent: want one of them"},
		{"serve --deaf --freeze 1s@2s", "--freeze with --deaf: it counts from the first connection"},
		{"serve --deaf --service-time 1ms --workers 1", "--workers with --deaf: no connection is accepted"},
		{"serve --deaf --close", "--close with --deaf: no connection is accepted"},
		{"serve --silent --size 0", "--size with --silent: no request is answered"},
		{"serve --silent --status 404", "--status with --silent: no request is answered"},
		{"serve --silent --service-time 1ms", "--service-time with --silent: no request is answered"},
		{"serve --workers 1", "--workers without --service-time: requests keep no worker busy"},
		{"serve --workers 1 --service-time 0ms", "--workers without --service-time: requests keep no worker busy"},
		{"serve --queue 5", "--queue without --service-time"},
		{"serve --overload reset --service-time exp:0ms", "--overload without --service-time"},
		{"serve --queue 5 --service-time 1ms", "--queue without --workers: all requests are served at once"},
		{"serve --overload accept --service-time 1ms", "--overload without --workers: all requests are served at once"},
		{"serve --overload reset --service-time 1ms --workers 1", "--overload reset without --queue: any number of requests may wait"},
		{"serve --overload accept --service-time 1ms --workers 1 --queue 1", "queue 1: overload accept leaves waiting to the kernel"},
		{"serve --capacity 0", `--capacity: "0": want requests per second`},
		{"serve --capacity 1k", `--capacity: "1k": want requests per second`},
		{"serve --capacity 0.0001", "capacity 0.0001: want 0.001 to 1000000 requests per second"},
		{"serve --capacity 5 --service-time 1ms --workers 2", "--capacity with --workers: each of them says how much can be served"},
		{"serve --capacity 5 --overload accept", "--overload accept with --capacity: connections would wait for workers"},
		{"serve --capacity 5 --overload reset", "--overload reset without --queue: any number of requests may wait"},
		{"serve --capacity 5 --deaf", "--capacity with --deaf: no connection is accepted"},
		{"serve --capacity 5 --silent", "--capacity with --silent: no request is answered"},
		{"serve --collapse 2", `--collapse: collapse "2": want KEPT[:HOLD], 0.001 to less than 1`},
		{"serve --collapse 0.5", "--collapse 0.5:5s without --capacity: nothing says what collapses"},
		{"serve --collapse 0.5 --capacity 2.5", "collapse 0.5:5s of capacity 2.5: want a whole number"},
		{"serve --collapse 0.5 --capacity 5 --overload reject --queue 5", "--overload reject with --collapse: what exceeds the queue is reset"},
		{"serve --shares 127.0.0.2", `--shares: shares "127.0.0.2": "127.0.0.2": want ADDRESS=WEIGHT`},
		{"serve --shares 127.0.0.2=0 --capacity 5", "--shares: share 127.0.0.2=0: want a weight of 1 to 1000000"},
		{"serve --shares 127.0.0.2=1", "--shares without --service-time: requests keep no worker busy"},
		{"serve --shares 127.0.0.2=1 --service-time 1ms", "--shares without --workers: all requests are served at once"},
		{"serve --shares 127.0.0.2=1 --capacity 5 --queue 0", "--queue 0 with --shares: nobody waits"},
		{"serve --shares 127.0.0.2=1 --capacity 5 --queue 5 --overload reject", "--overload reject with --shares: what exceeds the queue is reset"},
		{"serve --shares 127.0.0.2=1 --service-time 1ms --workers 1 --overload accept", "--overload accept with --shares"},
		{"serve --shares 127.0.0.2=1 --capacity 5 unix:a", `listen "unix:a": its clients have no addresses`},
		{"serve --size 5 --status 204", "--size 5 with --status 204: such a reply has no body"},
		{"serve --seed 1", "--seed 1 without --service-time exp:TIME"},
		{"serve --seed 1 --service-time 1ms", "--seed 1 without --service-time exp:TIME"},
		{"serve --freeze 1s@2s --for 2s", "--freeze 1s@2s with --for 2s: the server has ended by then"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := call(append([]string{"httpgen"}, strings.Fields(tt.args)...)...)
			if code != exitUsage || stdout != "" {
				t.Errorf("exit code %d, standard output %q; want %d and none", code, stdout, exitUsage)
			}
			advice := " (try httpgen --help)\n"
			if command, _, _ := strings.Cut(tt.args, " "); usage[command] != "" && command != "run" {
				advice = " (try httpgen " + command + " --help)\n"
			}
			if !strings.HasPrefix(stderr, "httpgen: ") || !strings.HasSuffix(stderr, advice) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("message %q, want one line that begins with httpgen: and ends with the advice", stderr)
			}
			if !strings.Contains(stderr, tt.want) {
				t.Errorf("message %q, want %q in it", stderr, tt.want)
			}
			if strings.Contains(stderr, "secret") {
				t.Errorf("message %q shows a password", stderr)
			}
		})
	}
}

func TestPrintOnly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ argv, want string }{
		{"httpgen --version", "httpgen 0.1.0 (go"},
		{"httpgen -V", "httpgen 0.1.0 (go"},
		{"httpgen version", "httpgen 0.1.0 (go"},
		{"httperf --version", "httpgen 0.1.0 (go"},
		{"httpgen schema", "result-1\nwindow-1\nsweep-1\ncompare-1\nfair-1\n"},
		{"httpgen schema result-1", `"$schema"`},
		{"httpgen schema fair-1", `httpgen.fair/1`},
		{"httpgen --rate nonsense --help", "Usage: httpgen [run] [URL]"},
		{"httpgen -h", "Usage: httpgen [run] [URL]"},
		{"httpgen help", "Usage: httpgen [run] [URL]"},
		{"httpgen help serve", "Usage: httpgen serve"},
		{"httpgen serve -h", "Usage: httpgen serve"},
		{"httperf --help", "Usage: httperf [URL] [flags]\n\n"},
		{"httperf -h", "\n  -n, --periodic-stats "},
		{"/opt/other --help", "Usage: other [run] [URL] [flags]\n       other sweep | compare | fair | serve |"},
		{"other serve --help", "Usage: other serve [ADDR]"},
		{"httpgen sweep -h", "Usage: httpgen sweep URL"},
		{"httpgen help compare", "Usage: httpgen compare NAME=URL"},
	} {
		t.Run(tt.argv, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := call(strings.Fields(tt.argv)...)
			if code != exitOK || stderr != "" {
				t.Errorf("exit code %d, standard error %q; want 0 and none", code, stderr)
			}
			if !strings.Contains(stdout, tt.want) {
				t.Errorf("standard output %.200q, want %q in it", stdout, tt.want)
			}
		})
	}
}

// Messages begin with the name that the program was called by.
func TestName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		argv []string
		want string // of standard error
	}{
		{[]string{"/usr/bin/httperf", "--frob"}, "httperf: unknown flag --frob (try httperf --help)\n"},
		{[]string{"httperf", "-n", "--rate"}, "httperf: --rate: it needs a value (try httperf --help)\n"},
		{[]string{"./other", "--frob"}, "other: unknown flag --frob (try other --help)\n"},
		{[]string{"other", "--dry-run", "--server", "127.0.0.1", "-X", "head"}, "other: warning: --method head: "},
		{[]string{"httperf", "--dry-run", "--server", "127.0.0.1", "-v", "-d", "1"}, "httperf: --debug has no effect\n"},
		{[]string{"httperf", "--server", "127.0.0.1", "-o", "json=testdata/none/result.json"}, "httperf: --output json=testdata/none/result.json: "},
		{[]string{"", "--dry-run", "--server", "127.0.0.1", "-v", "--debug", "1"}, "httpgen: --debug has no effect\n"},
		{nil, ""},
	} {
		t.Run(strings.Join(tt.argv, " "), func(t *testing.T) {
			t.Parallel()
			if tt.argv == nil {
				if have := newProgram(nil, nil, nil).name; have != "httpgen" {
					t.Errorf("without arguments the name is %q, want httpgen", have)
				}
				return
			}
			if _, _, stderr := call(tt.argv...); !strings.HasPrefix(stderr, tt.want) {
				t.Errorf("standard error %q, want %q", stderr, tt.want)
			}
		})
	}
}

// An I/O error is no usage error.
func TestOutputError(t *testing.T) {
	t.Parallel()
	code, _, stderr := call("httpgen", "--server", "127.0.0.1", "-o", "json=testdata/none/result.json", "-q")
	if code != exitInternal || !strings.Contains(stderr, "--output json=testdata/none/result.json") {
		t.Errorf("exit code %d, standard error %q; want %d and the output named", code, stderr, exitInternal)
	}
}
