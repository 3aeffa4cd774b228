package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		argv string
		want string // the command and its arguments
	}{
		{"httpgen", "run"},
		{"httpgen run", "run"},
		{"httpgen http://h/", "run -- http://h/"},
		{"httpgen serve :80 --size 5", "serve --size=5 -- :80"},
		{"httpgen schema result-1", "schema -- result-1"},
		{"httpgen -q serve", "run --quiet -- serve"},
		{"httperf serve", "run -- serve"},
		{"/usr/bin/httperf --rate 5", "run --rate=5"},
		{"httpgen --server h --rate 5", "run --server=h --rate=5"},
		{"httpgen --server=h --rate=5", "run --server=h --rate=5"},
		{"httpgen --num-conn 5", "run --num-conns=5"},
		{"httpgen --num-call 5", "run --num-calls=5"},
		{"httpgen --add-head X:y", "run --add-header=X:y"},
		{"httpgen --max-conn 5", "run --max-connections=5"},
		{"httpgen --ra 5", "run --rate=5"},
		{"httpgen --ra=5", "run --rate=5"},
		{"httpgen --ti 5", "run --timeout=5"},
		{"httpgen --u /", "run --uri=/"},
		{"httpgen --perio 5", "run --period=5"},
		{"httpgen --uri a=b", "run --uri=a=b"},
		{"httpgen --uri=a=b", "run --uri=a=b"},
		{"httpgen --uri=", "run --uri="},
		{"httpgen --rate -1", "run --rate=-1"},
		{"httpgen -r -1", "run --rate=-1"},
		{"httpgen --rate --hog", "run --rate=--hog"},
		{"httpgen --rate 1 --rate 2", "run --rate=1 --rate=2"},
		{"httpgen --runtime 5", "run --duration=5"},
		{"httpgen --run 5", "run --duration=5"},
		// Our own names, where no name of httperf has the prefix.
		{"httpgen --connections 5", "run --connections=5"},
		{"httpgen --connecti 5", "run --connections=5"},
		{"httpgen --dura 5", "run --duration=5"},
		{"httpgen --warm 5", "run --warmup=5"},
		{"httpgen --qui", "run --quiet"},
		// A prefix is httperf's first.
		{"httpgen --d 5", "run --debug=5"},
		{"httpgen --clo", "run --close-with-reset"},
		{"httpgen --burst 5", "run --burst-length=5"},
		{"httpgen --use", "run --use-timer-cache"},
		{"httpgen --no", "run --no-host-hdr"},
		// Optional values have to be attached.
		{"httpgen --print-reply http://h/", "run --print-reply -- http://h/"},
		{"httpgen --print-reply=header", "run --print-reply=header"},
		{"httpgen --print-req=body", "run --print-request=body"},
		// Short options.
		{"httpgen -r5 -n 6 -z=7", "run --rate=5 --num-conns=6 --duration==7"},
		{"httpgen -R 5 -m PUT -XGET", "run --rate=5 --method=PUT --method=GET"},
		{"httpgen -vqv -4", "run --verbose --quiet --verbose --ipv4"},
		{"httpgen -vr 5", "run --verbose --rate=5"},
		{"httpgen -vr5", "run --verbose --rate=5"},
		{"httpgen -d -5", "run --data=-5"},
		{"httpgen -da=b", "run --data=a=b"},
		{"httpgen -rpoisson:5", "run --rate=poisson:5"},
		{"httpgen -ojson=x", "run --output=json=x"},
		{"httpgen - -q", "run --quiet -- -"},
		{"httpgen -q -- -v --hog", "run --quiet -- -v --hog"},
		{"httpgen a -q b", "run --quiet -- a b"},
		// What it does not know goes on to kong.
		{"httpgen --frob=1 --rate 5", "run --frob=1 --rate=5"},
		// httperf's own short options under its name.
		{"httperf -d 5 -v", "run --debug=5 --verbose"},
		{"httperf -n -v", "run --periodic-stats --verbose"},
		{"httperf -vn", "run --verbose --periodic-stats"},
		{"httpgen --periodic", "run --periodic-stats"},
		{"httpgen --add-header-f x", "run --add-header-file=x"},
		{"httpgen -d 5", "run --data=5"},
	} {
		t.Run(tt.argv, func(t *testing.T) {
			t.Parallel()
			argv := strings.Fields(tt.argv)
			_, k := newGrammar()
			l, err := expand(k, argv, strings.HasSuffix(argv[0], "httperf"))
			if err != nil {
				t.Fatal(err)
			}
			if have := strings.Join(append([]string{l.command}, l.args...), " "); have != tt.want {
				t.Errorf("have %s\nwant %s", have, tt.want)
			}
		})
	}
}

func TestExpandIgnored(t *testing.T) {
	t.Parallel()
	_, k := newGrammar()
	l, err := expand(k, []string{"httpgen", "--debug", "3", "--use-timer-cache", "--hog"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"debug", "use-timer-cache"}; !slices.Equal(l.ignored, want) {
		t.Errorf("ignored %v, want %v", l.ignored, want)
	}
}

// runFlags returns the flags of the command run by name and alias.
func runFlags(t *testing.T) map[string]*kong.Flag {
	t.Helper()
	_, k := newGrammar()
	flags := map[string]*kong.Flag{}
	for _, level := range child(k, "run").AllFlags(false) {
		for _, f := range level {
			flags[f.Name] = f
			for _, alias := range f.Aliases {
				if len(alias) > 1 {
					flags[alias] = f
				}
			}
		}
	}
	return flags
}

// A flag of ours that is a prefix of a name of httperf would take a spelling
// away from those who know httperf.
func TestNoFlagIsPrefixOfHttperf(t *testing.T) {
	t.Parallel()
	for name := range runFlags(t) {
		for _, h := range httperfOptions {
			if strings.HasPrefix(h.name, name) && !isHttperf(name) {
				t.Errorf("--%s is a prefix of httperf's --%s", name, h.name)
			}
		}
	}
}

func isHttperf(name string) bool {
	return slices.ContainsFunc(httperfOptions, func(h httperfOption) bool { return h.name == name })
}

// Every option of httperf is a flag that takes a value where httperf's does.
func TestHttperfTable(t *testing.T) {
	t.Parallel()
	flags := runFlags(t)
	if !slices.IsSortedFunc(httperfOptions, func(a, b httperfOption) int { return strings.Compare(a.name, b.name) }) {
		t.Error("the table is not in order")
	}
	for _, h := range httperfOptions {
		f := flags[h.name]
		switch {
		case f == nil:
			t.Errorf("--%s is no flag", h.name)
		case takesOf(f) != h.takes:
			t.Errorf("--%s: takes %d, want %d", h.name, takesOf(f), h.takes)
		}
	}
}

// A prefix that is unique among all names is accepted, for each of our flags.
func TestUniquePrefixes(t *testing.T) {
	t.Parallel()
	flags := runFlags(t)
	var names []string
	for name := range flags {
		names = append(names, name)
	}
	_, k := newGrammar()
	v := newVocabulary(child(k, "run"))
	for name, f := range flags {
		for n := 1; n < len(name); n++ {
			prefix := name[:n]
			matches := 0
			for _, other := range names {
				if strings.HasPrefix(other, prefix) {
					matches++
				}
			}
			if matches != 1 {
				continue
			}
			have, known, err := v.resolve(prefix)
			if err != nil || !known || v.long[have].name != f.Name {
				t.Errorf("--%s: resolved to %q, %v, %v; want %s", prefix, have, known, err, f.Name)
			}
		}
	}
}
