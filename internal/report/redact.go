package report

import (
	"fmt"
	"regexp"
	"strings"
)

// hidden stands in for a secret.
const hidden = "***"

// secretField matches a line up to the colon after the name of a field whose
// value is not to be shown. A carriage return does not end a field, but a server
// may take what follows it for another one.
var secretField = regexp.MustCompile(`(?i)(?:^|\r|\\r)[^:]*(?:authorization|cookie|token|secret|passw|credential|signature|session|x-auth|apikey|-key)[^:]*:`)

// userinfo finds the password of an address; it may itself contain an @ or a colon.
var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^/?#\s:@]*):[^/?#\s]*@`)

// receiver finds what follows the path of where metrics are pushed: it may be a
// token.
var receiver = regexp.MustCompile(`((?:remote-write|pushgateway)=[^?\s]*\?).*`)

// switches are the short flags without a value: another one may follow them in the
// same argument.
const switches = "46hkLnqvV"

// Redact returns a copy of a command line with its secrets replaced by ***: the
// values of header fields such as Authorization, Cookie and X-Api-Key in -H,
// --header, --add-header and --arm-header, bodies after -d and --data unless they
// name a file, the password after --user, passwords in addresses, and queries of addresses that
// metrics are pushed to. Flags may be
// shortened and their values attached in any way. When in doubt it hides more.
func Redact(argv []string) []string {
	out := make([]string, len(argv))
	var pending func(string) string // what to do with the value of the flag before, if that is an argument of its own
	for i, arg := range argv {
		switch hide, flag, value, attached := redactor(arg); {
		case pending != nil:
			arg, pending = pending(arg), nil
		case attached:
			arg = flag + hide(value)
		default:
			pending = hide
		}
		out[i] = receiver.ReplaceAllString(userinfo.ReplaceAllString(arg, "${1}:"+hidden+"@"), "${1}"+hidden)
	}
	return out
}

// AddedHeaders returns the values of --add-header in a command line, with secrets
// replaced as Redact does. Control characters are written as escapes of that
// option, so that each value is one line and means what it did. There is no
// telling which other flags have a value of their own: one that looks like
// --add-header is taken for it.
func AddedHeaders(argv []string) []string {
	var values []string
	for i := 0; i < len(argv) && argv[i] != "--"; i++ {
		hide, flag, value, attached := redactor(argv[i])
		switch {
		case hide == nil:
			continue
		case !attached && i+1 == len(argv):
			return values
		case !attached:
			i++
			flag, value = argv[i-1], argv[i]
		}
		if strings.HasPrefix("--add-header", strings.TrimSuffix(flag, "=")) {
			values = append(values, escapeControls(userinfo.ReplaceAllString(hide(value), "${1}:"+hidden+"@")))
		}
	}
	return values
}

// escapeControls undoes what --add-header does with escapes.
func escapeControls(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case strings.HasPrefix(s[i:], "\r\n"):
			b.WriteString(`\n`)
			i++
		case c == '\n':
			b.WriteString(`\a`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// redactor looks at one argument. Hide is nil unless it is a flag whose value
// may be secret; attached reports that the value is part of the argument.
func redactor(arg string) (hide func(string) string, flag, value string, attached bool) {
	long, ok := strings.CutPrefix(arg, "--")
	if !ok {
		return shortRedactor(arg)
	}
	if long == "" {
		return nil, "", "", false
	}
	name, value, attached := strings.Cut(long, "=")
	switch {
	case name == "":
		return nil, "", "", false
	case strings.HasPrefix("add-header", name):
		hide = hideEscapedHeaders
	case strings.HasPrefix("header", name), strings.HasPrefix("arm-header", name):
		hide = hideHeader
	case strings.HasPrefix("data", name):
		hide = hideBody
	case name == "user":
		hide = hideUser
	}
	return hide, "--" + name + "=", value, attached && hide != nil
}

// shortRedactor is redactor for an argument of short flags.
func shortRedactor(arg string) (hide func(string) string, flag, value string, attached bool) {
	flags, ok := strings.CutPrefix(arg, "-")
	value = strings.TrimLeft(flags, switches)
	switch {
	case !ok || value == "":
		return nil, "", "", false
	case value[0] == 'H':
		hide = hideHeader
	case value[0] == 'd':
		hide = hideBody
	default:
		return nil, "", "", false
	}
	value = value[1:]
	return hide, strings.TrimSuffix(arg, value), value, value != ""
}

// hideBody keeps the name of a file.
func hideBody(s string) string {
	if strings.HasPrefix(s, "@") {
		return s
	}
	return hidden
}

// hideUser keeps the name of a name:password pair.
func hideUser(s string) string {
	if name, _, ok := strings.Cut(s, ":"); ok {
		return name + ":" + hidden
	}
	return hidden
}

// hideHeader hides from the first secret value on. What follows it may be more
// of the value or another field: there is no telling, since not every flag
// knows escapes.
func hideHeader(s string) string {
	for rest := s; rest != ""; {
		line, _, next := cutLine(rest)
		if at := secretField.FindStringIndex(line); at != nil {
			return s[:len(s)-len(rest)+at[1]] + " " + hidden
		}
		rest = next
	}
	return s
}

// hideEscapedHeaders hides secret values one by one and keeps the fields between
// them: the line ends of --add-header are well defined.
func hideEscapedHeaders(s string) string {
	var b strings.Builder
	var secret bool // the line before was secret; an indented one goes on with it
	for rest := s; rest != ""; {
		line, end, next := cutLine(rest)
		at := secretField.FindStringIndex(line)
		folded := secret && strings.IndexAny(line, " \t") == 0
		switch {
		case folded:
			line = " " + hidden
		case at != nil:
			line = line[:at[1]] + " " + hidden
		}
		secret = folded || at != nil
		b.WriteString(line + end)
		rest = next
	}
	return b.String()
}

// lineEnd matches, as its group, a line end or an escape for one: httperf's \n
// is CR LF and its \a is LF. Other escapes are passed over whole, so that the
// second half of an escaped backslash is not taken for the start of one.
var lineEnd = regexp.MustCompile(`(\n|\\(?:[na]|012))|\\.`)

// cutLine splits s after its first line.
func cutLine(s string) (line, end, rest string) {
	for _, at := range lineEnd.FindAllStringSubmatchIndex(s, -1) {
		if at[2] >= 0 {
			return s[:at[2]], s[at[2]:at[3]], s[at[3]:]
		}
	}
	return s, "", ""
}
