package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root returns the module's directory.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if line, _, _ := strings.Cut(string(mod), "\n"); strings.TrimSpace(line) != "module "+module {
		t.Fatalf("go.mod begins with %q, want module %s", line, module)
	}
	return dir
}

// files reads every Go file of the module, for whatever platform it is.
func files(t *testing.T) (all []file) {
	t.Helper()
	dir := root(t)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || base == "vendor" || name != dir && strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		all = append(all, file{filepath.ToSlash(rel), source})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestImportRules(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range files(t) {
		seen[filepath.Dir(f.name)] = true
		bad, err := check(f)
		if err != nil {
			t.Error(err)
		}
		for _, b := range bad {
			t.Error(b)
		}
	}
	for _, pkg := range []string{"pacer", "sampler", "client", "internal/http1", "internal/poll", "internal/report", "internal/run"} {
		if !seen[pkg] {
			t.Errorf("no file of %s was looked at", pkg)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		file   string
		source string
		want   string // what the only complaint says, empty for none
	}{
		{"nothing of ours", "pacer/a.go", `package pacer; import "time"; var _ time.Duration`, ""},
		{"pacer, sampler", "pacer/a.go", `package pacer; import _ "httpgen/sampler"`, "pacer must not import sampler"},
		{"sampler, pacer", "sampler/a.go", `package sampler; import _ "httpgen/pacer"`, "sampler must not import pacer"},
		{"sampler, its child", "sampler/a.go", `package sampler; import _ "httpgen/sampler/prom"`, "sampler must not import sampler/prom"},
		{"prom, sampler", "sampler/prom/a.go", `package prom; import _ "httpgen/sampler"`, ""},
		{"prom, client", "sampler/prom/a.go", `package prom; import _ "httpgen/client"`, "sampler/prom must not import client"},
		{"client, all it may", "client/a.go", `package client; import (_ "httpgen/pacer"; _ "httpgen/sampler"; _ "httpgen/internal/http1"; _ "httpgen/internal/poll")`, ""},
		{"client, report", "client/a.go", `package client; import _ "httpgen/internal/report"`, "client must not import internal/report"},
		{"client, prom", "client/a.go", `package client; import _ "httpgen/sampler/prom"`, "client must not import sampler/prom"},
		{"http1, poll", "internal/http1/a.go", `package http1; import _ "httpgen/internal/poll"`, "internal/http1 must not import internal/poll"},
		{"poll, http1", "internal/poll/a.go", `package poll; import _ "httpgen/internal/http1"`, "internal/poll must not import internal/http1"},
		{"report, sampler", "internal/report/a.go", `package report; import _ "httpgen/sampler"`, "internal/report must not import sampler"},
		{"target, poll", "internal/target/a.go", `package target; import _ "httpgen/internal/poll"`, ""},
		{"target, http1", "internal/target/a.go", `package target; import _ "httpgen/internal/http1"`, "internal/target must not import internal/http1"},
		{"run, all it may", "internal/run/a.go", `package run; import (_ "httpgen/pacer"; _ "httpgen/sampler"; _ "httpgen/client"; _ "httpgen/internal/report")`, ""},
		{"run, poll", "internal/run/a.go", `package run; import _ "httpgen/internal/poll"`, "internal/run must not import internal/poll"},
		{"bench, anything", "internal/bench/peers/a.go", `package main; import (_ "httpgen/internal/poll"; _ "httpgen/internal/run"; _ "httpgen/sampler/prom")`, ""},
		{"bench, cmd", "internal/bench/peers/a.go", `package main; import _ "httpgen/cmd/httpgen"`, "nothing may import cmd/httpgen"},
		{"cmd, cmd", "cmd/httpgen/a.go", `package main; import _ "httpgen/cmd/other"`, "nothing may import cmd/other"},
		{"test, cmd", "client/a_test.go", `package client; import _ "httpgen/cmd/httpgen"`, "nothing may import cmd/httpgen"},
		{"test, another package", "client/a_test.go", `package client; import _ "httpgen/internal/target"`, ""},
		{"example, public", "examples/library/main.go", `package main; import (_ "httpgen/client"; _ "httpgen/sampler/prom")`, ""},
		{"example, internal", "examples/library/main.go", `package main; import _ "httpgen/internal/run"`, "examples/library must not import internal/run"},
		{"a similar name", "client/a.go", `package client; import _ "httpgen/samplers"`, "client must not import samplers"},
		{"another module", "client/a.go", `package client; import _ "example.org/httpgen/cmd"`, ""},
		{"no rule", "internal/util/a.go", `package util`, "package internal/util has no rule"},

		{"unsafe", "client/a.go", `package client; import _ "unsafe"`, "only internal/poll may import unsafe"},
		{"unsafe, test", "client/a_test.go", `package client; import _ "unsafe"`, "only internal/poll may import unsafe"},
		{"unsafe, program", "cmd/httpgen/a.go", `package main; import _ "unsafe"`, "only internal/poll may import unsafe"},
		{"unsafe where it may be", "internal/poll/a.go", `package poll; import ("syscall"; _ "unsafe"); var _ = syscall.RawSyscall6`, ""},
		{"raw system call", "client/a.go", `package client; import "syscall"; func f() { syscall.RawSyscall(1, 2, 3, 4) }`, "only internal/poll may make raw system calls (syscall.RawSyscall)"},
		{"raw system call, renamed", "internal/target/a.go", `package target; import sys "golang.org/x/sys/unix"; func f() { sys.Syscall6(1, 2, 3, 4, 5, 6, 7) }`, "raw system calls (golang.org/x/sys/unix.Syscall6)"},
		{"error number", "client/a.go", `package client; import "syscall"; var _ = syscall.ECONNRESET`, ""},
		{"no package of that name", "client/a.go", `package client; var syscall struct{ RawSyscall int }; var _ = syscall.RawSyscall`, ""},

		{"log", "pacer/a.go", `package pacer; import _ "log"`, "a library must not import log"},
		{"slog", "client/a.go", `package client; import _ "log/slog"`, "a library must not import log/slog"},
		{"flag", "internal/run/a.go", `package run; import _ "flag"`, "a library must not import flag"},
		{"kong", "internal/run/a.go", `package run; import _ "github.com/alecthomas/kong"`, "a library must not import github.com/alecthomas/kong"},
		{"signals", "client/a.go", `package client; import _ "os/signal"`, "a library must not import os/signal"},
		{"Println", "sampler/a.go", `package sampler; import "fmt"; func f() { fmt.Println() }`, "a library must not use fmt.Println"},
		{"Printf, renamed", "sampler/a.go", `package sampler; import format "fmt"; var _ = format.Printf`, "a library must not use fmt.Printf"},
		{"Fprintf", "internal/report/a.go", `package report; import "fmt"; func f(w io.Writer) { fmt.Fprintf(w, ""); fmt.Sprint() }`, ""},
		{"Exit", "client/a.go", `package client; import "os"; func f() { os.Exit(1) }`, "a library must not use os.Exit"},
		{"Stderr", "client/a.go", `package client; import "os"; var _ = os.Stderr`, "a library must not use os.Stderr"},
		{"Args", "client/a.go", `package client; import "os"; var _ = os.Args`, "a library must not use os.Args"},
		{"println", "client/a.go", `package client; func f() { println("x") }`, "a library must not use println"},
		{"a program may", "cmd/httpgen/a.go", `package main; import ("flag"; "fmt"; "log"; "os"); func f() { flag.Parse(); fmt.Println(); log.Print(); os.Exit(1) }`, ""},
		{"a test may", "client/a_test.go", `package client; import ("fmt"; "os"); func f() { fmt.Println(); os.Exit(1) }`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad, err := check(file{tt.file, []byte(tt.source)})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.want == "" && len(bad) > 0:
				t.Errorf("got %q, want no complaint", bad)
			case tt.want != "" && len(bad) != 1:
				t.Errorf("got %q, want one complaint: %s", bad, tt.want)
			case tt.want != "" && !strings.Contains(bad[0], tt.want):
				t.Errorf("got %q, want %q", bad[0], tt.want)
			}
		})
	}
	if _, err := check(file{"client/a.go", []byte("package")}); err == nil {
		t.Error("a file that cannot be parsed is let through")
	}
}

// No rule hides behind an earlier one.
func TestRulesAreReachable(t *testing.T) {
	t.Parallel()
	for i, r := range rules {
		if got, _ := ruleOf(strings.TrimSuffix(r.path, "/...")); got.path != r.path {
			t.Errorf("rule %d for %s is never used: %s comes first", i, r.path, got.path)
		}
	}
}
