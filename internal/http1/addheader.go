package http1

import (
	"fmt"
	"strings"
)

// ParseAddHeader reads header lines in the notation of httperf's --add-header:
// \n is CRLF, \r is CR, \a is LF, \\ is a backslash, and a backslash with one to
// three octal digits is that byte. A missing line end after the last line is
// added, with a warning. raw is the lines as they go over the wire;
// [SplitFields] accepts it. An empty s has no lines.
func ParseAddHeader(s string) (raw []byte, warnings []string, err error) {
	raw, err = unescape(s)
	if err != nil {
		return nil, nil, err
	}
	if len(raw) > 0 && raw[len(raw)-1] != '\n' {
		raw = append(raw, "\r\n"...)
		warnings = append(warnings, fmt.Sprintf(`added header %q does not end its last line; \n was added`, begin(s)))
	}
	if _, err := SplitFields(raw); err != nil {
		return nil, nil, err
	}
	return raw, warnings, nil
}

// unescape resolves the escapes of ParseAddHeader.
func unescape(s string) ([]byte, error) {
	raw := make([]byte, 0, len(s)+2)
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			raw = append(raw, s[i])
			continue
		}
		i++
		if i == len(s) {
			return nil, fmt.Errorf("http1: added header %q: nothing follows the last backslash", begin(s))
		}
		switch c := s[i]; c {
		case 'n':
			raw = append(raw, "\r\n"...)
		case 'r':
			raw = append(raw, '\r')
		case 'a':
			raw = append(raw, '\n')
		case '\\':
			raw = append(raw, '\\')
		default:
			v, digits := octal(s[i:])
			if digits == 0 || v > 0xff {
				return nil, fmt.Errorf(`http1: added header %q: escape \%s: want \n, \r, \a, \\ or an octal byte`, begin(s), s[i:i+max(digits, 1)])
			}
			raw = append(raw, byte(v))
			i += digits - 1
		}
	}
	return raw, nil
}

// octal reads up to three octal digits at the start of s.
func octal(s string) (v, digits int) {
	for digits < min(3, len(s)) && s[digits] >= '0' && s[digits] <= '7' {
		v = v<<3 | int(s[digits]-'0')
		digits++
	}
	return v, digits
}

// SplitFields splits header lines that each end with CRLF or LF. Blanks around a
// value are dropped. Anything else than lines of a name, a colon and a value is
// an error that quotes how the line begins, as the rest may be a secret; so is an empty line, which would end the header
// of a request.
func SplitFields(raw []byte) ([]Field, error) {
	var fields []Field
	rest := string(raw)
	for rest != "" {
		line, tail, ended := strings.Cut(rest, "\n")
		if !ended {
			return nil, fmt.Errorf("http1: header line %q: want a line end", begin(line))
		}
		rest = tail
		line = strings.TrimSuffix(line, "\r")
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("http1: header line %q: want a name, a colon and a value", begin(line))
		}
		f := Field{name, strings.Trim(value, " \t")}
		if err := checkField(f); err != nil {
			return nil, fmt.Errorf("http1: header line %q: %w", begin(line), err)
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// begin returns a header line up to the end of what should be its name.
func begin(line string) string {
	if i := strings.IndexAny(line, ": \t\r\n\\"); i >= 0 {
		return line[:i]
	}
	return line
}
