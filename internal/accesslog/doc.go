// Package accesslog replays the access log of a web server: when its requests
// arrived, and what they asked for.
//
// It reads the Common and Combined formats as nginx and Apache write them, also
// with a virtual host and port in front, with more fields behind, and with
// fractions of a second:
//
//	host ident user [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 512 "referer" "user agent"
//	example.com:443 host ident user [10/Oct/2000:13:55:36.123 -0700] "GET / HTTP/1.1" 200 512
//	host ident user [1700000000.123] "GET / HTTP/1.1" 200 512
//
// [Log.Process] says when the requests are due, as a [pacer.Process]; request i
// of the schedule is [Log.Request] of i. With another process the requests come
// from the log in order, again and again.
//
// # Design
//
// A log may be larger than the memory. [Open] reads it once, checks every line
// and keeps the place of every 256th request; everything later is read again
// where it is, with ReadAt on one file, so schedules and requests do not
// disturb each other and a schedule that is given up leaves nothing behind.
// What was in the file at Open is the log: a server may go on appending to it.
//
// A line that is not in the format is an error, because what it stood for would
// be missing from the load. A line in the format that holds no request, or none
// that can be sent, is left out and counted: see [Skipped]. Blank lines are
// ignored.
//
// The times are kept as they are logged. Servers write a line when a request
// ends, some with the time when it began, so a line may be earlier than its
// predecessor. In flat memory they cannot be sorted: such a request takes place
// at the latest time before it, and is counted. Stamps of whole seconds make
// one burst of each second; [Options] can spread them.
package accesslog
