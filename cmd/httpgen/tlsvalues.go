package main

import (
	"crypto/tls"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// A tlsVersion is a version of TLS, 0 when none was given.
type tlsVersion uint16

// anyVersion is "auto".
const anyVersion tlsVersion = 1

// number returns the version as crypto/tls has it, 0 for any.
func (v tlsVersion) number() uint16 {
	if v == anyVersion {
		return 0
	}
	return uint16(v)
}

// UnmarshalText reads 1.2, TLSv1.2, TLSv1 or auto.
func (v *tlsVersion) UnmarshalText(text []byte) error {
	s := strings.ToLower(string(text))
	switch s {
	case "auto":
		*v = anyVersion
		return nil
	case "sslv2", "sslv3", "2", "3":
		return fmt.Errorf("%s is broken and was removed from all servers worth measuring: want TLSv1.0 to TLSv1.3, or auto", text)
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "tls"), "v")
	version, ok := map[string]uint16{
		"1": tls.VersionTLS10, "1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13,
	}[s]
	if !ok {
		return fmt.Errorf("%q: want TLSv1.0, TLSv1.1, TLSv1.2, TLSv1.3 or auto", text)
	}
	*v = tlsVersion(version)
	return nil
}

// A verify is httperf's --ssl-verify[=yes|no].
type verify struct{ given, no bool }

// Decode implements kong.BoolMapperValue: the value is optional.
func (v *verify) Decode(ctx *kong.DecodeContext) error {
	*v = verify{given: true}
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	switch s := ctx.Scan.Pop().String(); strings.ToLower(s) {
	case "yes", "true", "1", "on":
	case "no", "false", "0", "off":
		v.no = true
	default:
		return fmt.Errorf("%q: want yes or no", s)
	}
	return nil
}

// IsBool implements kong.BoolMapperValue.
func (*verify) IsBool() bool { return true }
