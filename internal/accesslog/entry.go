package accesslog

import "time"

// An Entry is one request of the log.
type Entry struct {
	Time      time.Time // as logged, in UTC
	Host      string    // virtual host and port in front of the line; empty where there is none
	Method    string    // a token
	URI       string    // request target, not empty, without blanks or control characters
	Protocol  string    // such as HTTP/1.1; empty for HTTP/0.9
	Status    int       // of the logged reply, 0 to 999; 0 where the log has "-"
	Referer   string    // empty where the log has none or "-"
	UserAgent string    // empty where the log has none or "-"
}

// entry copies what r holds.
func (r *record) entry() Entry {
	return Entry{
		Time:      time.Unix(0, r.time).UTC(),
		Host:      string(r.host),
		Method:    intern(r.method),
		URI:       string(r.uri),
		Protocol:  intern(r.protocol),
		Status:    r.status,
		Referer:   string(r.referer),
		UserAgent: string(r.userAgent),
	}
}

// intern returns b as a string, without an allocation for the usual ones.
func intern(b []byte) string {
	switch string(b) {
	case "GET":
		return "GET"
	case "HEAD":
		return "HEAD"
	case "POST":
		return "POST"
	case "HTTP/1.0":
		return "HTTP/1.0"
	case "HTTP/1.1":
		return "HTTP/1.1"
	case "HTTP/2.0":
		return "HTTP/2.0"
	}
	return string(b)
}
