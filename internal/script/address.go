package script

import (
	"net/netip"
	"strconv"
	"strings"
)

// splitURL splits an absolute http or https URL for a request in origin form.
// The scheme is in lower case, host is the authority as written, and the
// fragment is dropped. The last result is what is wrong and what was wanted,
// empty if nothing is.
func splitURL(s string) (scheme, host, uri, wrong string) {
	scheme, rest, ok := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	if !ok || scheme != "http" && scheme != "https" {
		return "", "", "", "URL of another scheme: want http:// or https://"
	}
	host, uri = rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, uri = rest[:i], rest[i:]
	}
	if strings.Contains(host, "@") {
		return "", "", "", "URL with user information: want a header such as Authorization instead"
	}
	if _, _, wrong := splitHost(host); wrong != "" {
		return "", "", "", "URL whose server has a " + wrong
	}
	if strings.Contains(host, "%") {
		return "", "", "", "URL with the zone of an address: want the address alone"
	}
	uri, wrong = originForm(uri)
	return scheme, host, uri, wrong
}

// originForm returns the request target for what follows the authority of a
// URL: without the fragment, and with a slash where the path is empty.
func originForm(s string) (uri, wrong string) {
	uri, _, _ = strings.Cut(s, "#")
	if !strings.HasPrefix(uri, "/") {
		uri = "/" + uri
	}
	if !isUnbroken(uri) {
		return "", "URI with blanks or control characters: want them percent-encoded"
	}
	return uri, ""
}

// splitHost splits NAME, IPV4 or [IPV6], each with or without :PORT. The host is
// without brackets; the port is 0 when there is none. The last result is what is
// wrong and what was wanted, empty if nothing is.
func splitHost(s string) (host string, port int, wrong string) {
	var rest string
	if bracketed, ok := strings.CutPrefix(s, "["); ok {
		host, rest, ok = strings.Cut(bracketed, "]")
		a, err := netip.ParseAddr(host)
		if !ok || err != nil || !a.Is6() || !isUnbroken(host) {
			return "", 0, "host in brackets that is no IPv6 address: want one such as [::1]"
		}
	} else {
		i := strings.IndexByte(s, ':')
		if i < 0 {
			i = len(s)
		}
		host, rest = s[:i], s[i:]
		if !isHostName(host) {
			return "", 0, "host that is no name or address: want letters, digits, dots and hyphens"
		}
	}
	if rest == "" {
		return host, 0, ""
	}
	digits, ok := strings.CutPrefix(rest, ":")
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil || n == 0 {
		return "", 0, "port that is none: want a number from 1 to 65535"
	}
	return host, int(n), ""
}

// isHostName reports whether s may be a name or an IPv4 address. Whether it is
// one is up to name resolution.
func isHostName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return s != ""
}
