package script

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"
)

const (
	maxServers = 1 << 20
	maxWeight  = 1_000_000
)

// A Server is one line of a list of servers.
type Server struct {
	Host   string // name or address; an IPv6 address has no brackets
	Port   int    // 0: the default of the run
	Weight int    // share of the arrivals relative to the others, from 1 to 1,000,000; default 1
}

// ParseServers reads a list of servers: HOST[:PORT] [WEIGHT]. An IPv6 address
// stands in brackets where a port follows; without brackets all of it is the
// address. The servers are separated by NUL, as httperf has them, if there is
// one in the file; blanks and line ends around them do not count then. Else
// there is one a line, '#' starts a comment and blank lines are skipped.
// A file without any server is an error. Name is what errors call the file.
func ParseServers(name string, content []byte) ([]Server, error) {
	src := newSource(name, content)
	var servers []Server
	add := func(offset int, text []byte) error {
		if len(text) == 0 {
			return nil
		}
		if len(servers) == maxServers {
			return src.errorf(offset, "more than %d servers: want fewer", maxServers)
		}
		s, err := src.server(offset, string(text))
		servers = append(servers, s)
		return err
	}
	if bytes.IndexByte(src.content, 0) >= 0 {
		offset := 0
		for item := range bytes.SplitSeq(src.content, []byte{0}) {
			text := bytes.TrimLeft(item, blanks+"\r\n")
			if err := add(offset+len(item)-len(text), bytes.TrimRight(text, blanks+"\r\n")); err != nil {
				return nil, err
			}
			offset += len(item) + 1
		}
	} else {
		for l := (&lines{source: src}); l.scan(); {
			text, _, _ := bytes.Cut(l.text, []byte("#"))
			if err := add(l.start, bytes.TrimRight(text, blanks)); err != nil {
				return nil, err
			}
		}
	}
	if len(servers) == 0 {
		return nil, src.errorf(0, "no server: want HOST[:PORT] [WEIGHT] a line")
	}
	return servers, nil
}

// server reads one server, which stands at offset and has no blanks around it.
func (s *source) server(offset int, text string) (Server, error) {
	address, weight := text, ""
	if i := strings.IndexAny(text, blanks); i >= 0 {
		address, weight = text[:i], strings.TrimLeft(text[i:], blanks)
	}
	if strings.Contains(address, "@") {
		return Server{}, s.errorf(offset, "server with user information: want HOST[:PORT]")
	}
	server := Server{Weight: 1}
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() && isUnbroken(address) {
		server.Host = address
	} else {
		var wrong string
		if server.Host, server.Port, wrong = splitHost(address); wrong != "" {
			return Server{}, s.errorf(offset, "server %.80q with a %s", address, wrong)
		}
	}
	if weight != "" {
		n, err := strconv.ParseUint(weight, 10, 32)
		if err != nil || n < 1 || n > maxWeight {
			return Server{}, s.errorf(offset+len(text)-len(weight), "weight %.80q: want a number from 1 to %d", weight, maxWeight)
		}
		server.Weight = int(n)
	}
	return server, nil
}
