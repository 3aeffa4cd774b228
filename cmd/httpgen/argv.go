package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// takes says whether an option has a value.
type takes uint8

const (
	noValue    takes = iota
	aValue           // --name=value or --name value
	maybeValue       // --name or --name=value
)

// An option is a flag of the grammar as the first pass sees it.
type option struct {
	name  string // canonical
	takes takes
}

// A line is a command line after the first pass.
type line struct {
	command       string   // name of the command
	args          []string // --name, --name=value, and at last -- and what is no option
	help, version bool     // asked for; the rest was not looked at
	ignored       []string // options given that have no effect
}

// expand does what getopt does for httperf, which kong does not: unique
// prefixes, values that begin with a dash, and one form for short and long
// options. Long options that it does not know it leaves to kong, which knows
// what they look like.
func expand(k *kong.Kong, argv []string, classic bool) (*line, error) {
	l := &line{command: "run"}
	var args []string
	if len(argv) > 1 {
		args = argv[1:]
	}
	if !classic && len(args) > 0 {
		if args[0] == "help" {
			l.help = true
			if len(args) > 1 && child(k, args[1]) != nil {
				l.command = args[1]
			}
			return l, nil
		}
		if child(k, args[0]) != nil {
			l.command, args = args[0], args[1:]
		}
	}
	n := child(k, l.command)
	if classic {
		bindShort(n)
	}
	return l, newVocabulary(n).expand(l, args)
}

// bindShort gives the short options that mean something else to httperf its
// meaning.
func bindShort(n *kong.Node) {
	for _, f := range n.Flags {
		if httperfShort[f.Short] != "" {
			f.Short = 0
		}
		for r, name := range httperfShort {
			if f.Name == name {
				f.Short = r
			}
		}
	}
}

func child(k *kong.Kong, name string) *kong.Node {
	for _, n := range k.Model.Children {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// vocabulary is the options of one command.
type vocabulary struct {
	long    map[string]option // by name and alias
	short   map[rune]option
	httperf []httperfOption // whose prefixes come first; only of run
}

func newVocabulary(n *kong.Node) *vocabulary {
	v := &vocabulary{long: map[string]option{}, short: map[rune]option{}}
	for _, level := range n.AllFlags(false) {
		for _, f := range level {
			o := option{f.Name, takesOf(f)}
			v.long[f.Name] = o
			if f.Short != 0 {
				v.short[f.Short] = o
			}
			for _, alias := range f.Aliases {
				if r, size := utf8.DecodeRuneInString(alias); size == len(alias) {
					v.short[r] = o
					continue
				}
				v.long[alias] = o
			}
		}
	}
	if n.Name == "run" {
		v.httperf = httperfOptions
	}
	return v
}

func takesOf(f *kong.Flag) takes {
	switch f.Target.Interface().(type) {
	case part, verify:
		return maybeValue
	}
	if f.IsBool() || f.IsCounter() {
		return noValue
	}
	return aValue
}

// foreign returns httperf's option of that name.
func (v *vocabulary) foreign(name string) (httperfOption, bool) {
	for _, h := range v.httperf {
		if h.name == name {
			return h, true
		}
	}
	return httperfOption{}, false
}

// resolve returns the canonical name of a long option that may be shortened. A
// prefix is looked up among httperf's names first. It is not known when there is
// no such option.
func (v *vocabulary) resolve(name string) (canonical string, known bool, err error) {
	if _, ok := v.foreign(name); ok {
		return name, true, nil
	}
	if o, ok := v.long[name]; ok {
		return o.name, true, nil
	}
	if name == "" {
		return "", false, nil
	}
	var found, newer []string
	for _, h := range v.httperf {
		switch {
		case !strings.HasPrefix(h.name, name):
		case h.newer:
			newer = append(newer, h.name)
		default:
			found = append(found, h.name)
		}
	}
	if len(found) != 1 {
		found = append(found, newer...)
	}
	if len(found) == 0 {
		for n := range v.long {
			if strings.HasPrefix(n, name) {
				found = append(found, n)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", false, nil
	case 1:
		return found[0], true, nil
	}
	slices.Sort(found)
	return "", true, fmt.Errorf("option '--%s' is ambiguous; possibilities: '--%s'", name, strings.Join(found, "' '--"))
}

// expand fills l from args.
func (v *vocabulary) expand(l *line, args []string) error {
	var rest []string
	for len(args) > 0 && !l.help && !l.version {
		arg := args[0]
		args = args[1:]
		var err error
		switch {
		case arg == "--":
			rest = append(rest, args...)
			args = nil
		case strings.HasPrefix(arg, "--"):
			args, err = v.longOption(l, arg[2:], args)
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
			args, err = v.shortOptions(l, arg[1:], args)
		default:
			rest = append(rest, arg)
		}
		if err != nil {
			return err
		}
	}
	if rest != nil {
		l.args = append(append(l.args, "--"), rest...)
	}
	return nil
}

// longOption reads text, what follows the two dashes, and returns what is left
// of args.
func (v *vocabulary) longOption(l *line, text string, args []string) ([]string, error) {
	name, value, attached := strings.Cut(text, "=")
	canonical, known, err := v.resolve(name)
	if err != nil {
		return nil, err
	}
	if !known {
		l.args = append(l.args, "--"+text)
		return args, nil
	}
	return v.emit(l, canonical, value, attached, args)
}

// shortOptions reads text, what follows one dash: options without a value, the
// last one may have one.
func (v *vocabulary) shortOptions(l *line, text string, args []string) ([]string, error) {
	if v.looksLong(text) {
		return nil, fmt.Errorf("-%s: a long option has two dashes: --%s", text, text)
	}
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		o, ok := v.short[r]
		if !ok {
			return nil, fmt.Errorf("unknown option -%c%s", r, shortHints[r])
		}
		attached := o.takes == aValue && text != ""
		var err error
		if args, err = v.emit(l, o.name, text, attached, args); err != nil {
			return nil, err
		}
		if attached {
			break
		}
	}
	return args, nil
}

// shortHints say what may be meant by short options of other programs.
var shortHints = map[rune]string{
	't': ": a timeout is --timeout, and threads are --workers",
}

// looksLong says whether what follows one dash is a long option, as programs
// that use Go's flag package write them.
func (v *vocabulary) looksLong(text string) bool {
	name, _, _ := strings.Cut(text, "=")
	if len(name) < 3 {
		return false
	}
	canonical, known, err := v.resolve(name)
	_, own := v.long[name]
	return known && err == nil && (own || canonical == name || strings.Contains(name, "-"))
}

// emit appends an option to l.args. A value that it needs and that is not
// attached is the next of args, whatever that looks like.
func (v *vocabulary) emit(l *line, name, value string, attached bool, args []string) ([]string, error) {
	o := v.long[name]
	h, _ := v.foreign(name)
	switch {
	case o.takes == noValue && attached:
		return nil, fmt.Errorf("--%s: it takes no value, and %q was given", name, value)
	case o.takes == aValue && !attached:
		if len(args) == 0 {
			return nil, fmt.Errorf("--%s: it needs a value", name)
		}
		value, attached, args = args[0], true, args[1:]
	}
	switch {
	case h.ignored:
		l.ignored = append(l.ignored, name)
	case o.name == "help":
		l.help = true
	case o.name == "version":
		l.version = true
	}
	if attached {
		l.args = append(l.args, "--"+o.name+"="+value)
	} else {
		l.args = append(l.args, "--"+o.name)
	}
	return args, nil
}
