package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// module is the import path that all paths below are relative to.
const module = "httpgen"

// A rule says what the packages of one path may import of this module.
type rule struct {
	path string // a trailing /... includes everything below
	may  []string
}

// rules are searched in order; the first that fits holds.
var rules = []rule{
	{"pacer", nil},
	{"sampler", nil},
	{"sampler/prom", []string{"sampler", "internal/poll"}},
	{"client", []string{"pacer", "sampler", "internal/http1", "internal/http2", "internal/poll"}},
	{"internal/arch", nil},
	{"internal/http1", nil},
	{"internal/poll", nil},
	{"internal/accesslog", []string{"pacer"}},
	{"internal/http2", nil},
	{"internal/dashboard", nil},
	{"internal/metrics", []string{"sampler", "sampler/prom", "internal/poll"}},
	{"internal/push", nil},
	{"internal/report", nil},
	{"internal/script", nil},
	{"internal/target", []string{"internal/poll"}},
	{"internal/run", []string{"pacer", "sampler", "client", "internal/report", "internal/script", "internal/accesslog"}},
	{"internal/experiment/stat", nil},
	{"internal/experiment", []string{"pacer", "sampler", "client", "internal/report", "internal/run", "internal/experiment/stat"}},
	{"internal/bench/...", []string{"pacer", "sampler/...", "client", "internal/..."}},
	{"cmd/...", []string{"pacer", "sampler/...", "client", "internal/..."}},
	{"examples/...", []string{"pacer", "sampler/...", "client"}},
}

// rawPackage is the only one that may leave Go's safety and make system calls
// of its own.
const rawPackage = "internal/poll"

// Whatever has one of these in its hands is a program and no library.
var programImports = []string{"log", "log/slog", "flag", "os/signal", "github.com/alecthomas/kong"}

// handedOn are what a package needs to satisfy a library, which is given a logger
// that discards.
var handedOn = map[string][]string{"internal/metrics": {"log/slog"}}

// programNames are what a library must not use of packages that it may import.
var programNames = map[string][]string{
	"fmt": {"Print", "Printf", "Println"},
	"os":  {"Exit", "Args", "Stdout", "Stderr"},
}

// A file is one Go file of the module.
type file struct {
	name   string // path from the module's root, with slashes
	source []byte
}

// fits says whether a package's path matches a pattern.
func fits(pattern, pkg string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == base || strings.HasPrefix(pkg, base+"/")
	}
	return pkg == pattern
}

// ruleOf returns the rule for a package.
func ruleOf(pkg string) (rule, bool) {
	i := slices.IndexFunc(rules, func(r rule) bool { return fits(r.path, pkg) })
	if i < 0 {
		return rule{}, false
	}
	return rules[i], true
}

// check returns what a file does against the rules, each with its place.
func check(f file) (bad []string, err error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, f.name, f.source, 0)
	if err != nil {
		return nil, err
	}
	complain := func(at token.Pos, format string, args ...any) {
		bad = append(bad, fmt.Sprintf("%v: %s", set.Position(at), fmt.Sprintf(format, args...)))
	}
	pkg := path.Dir(f.name)
	// Tests may import more than their package may, and print.
	test := strings.HasSuffix(f.name, "_test.go")
	library := tree.Name.Name != "main" && !test
	r, known := ruleOf(pkg)
	if !known {
		complain(tree.Package, "package %s has no rule in internal/arch", pkg)
	}
	imported := map[string]string{} // name in this file to path
	for _, spec := range tree.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		name := nameOf(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = p
		if p == "unsafe" && pkg != rawPackage {
			complain(spec.Pos(), "only %s may import unsafe", rawPackage)
		}
		if library && slices.Contains(programImports, p) && !slices.Contains(handedOn[pkg], p) {
			complain(spec.Pos(), "a library must not import %s", p)
		}
		ours, isOurs := strings.CutPrefix(p, module+"/")
		switch {
		case !isOurs || !known:
		case fits("cmd/...", ours):
			complain(spec.Pos(), "nothing may import %s", ours)
		case !test && !slices.ContainsFunc(r.may, func(pattern string) bool { return fits(pattern, ours) }):
			complain(spec.Pos(), "%s must not import %s", pkg, ours)
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			from := imported[id.Name]
			if library && slices.Contains(programNames[from], n.Sel.Name) {
				complain(n.Pos(), "a library must not use %s.%s", from, n.Sel.Name)
			}
			if (from == "syscall" || from == "golang.org/x/sys/unix") && strings.Contains(n.Sel.Name, "Syscall") && pkg != rawPackage {
				complain(n.Pos(), "only %s may make raw system calls (%s.%s)", rawPackage, from, n.Sel.Name)
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && library && (id.Name == "print" || id.Name == "println") {
				complain(n.Pos(), "a library must not use %s", id.Name)
			}
		}
		return true
	})
	return bad, nil
}

// version is a last element of an import path that does not name the package.
var version = regexp.MustCompile(`^v[0-9]+$`)

// nameOf returns the name by which a file knows an import without one of its
// own.
func nameOf(p string) string {
	name := path.Base(p)
	if version.MatchString(name) {
		name = path.Base(path.Dir(p))
	}
	return name
}
