package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"httpgen/client"
)

func TestClientSpec(t *testing.T) {
	t.Parallel()
	testValues(t, "client", func(c clientSpec) any { return c }, []valueTest{
		{"name=a", clientSpec{name: "a"}},
		{"name=a b,rate=500/s,weight=0.5,join=1,leave=2m", clientSpec{name: "a b", rate: 500, weight: 0.5, join: time.Second, leave: 2 * time.Minute}},
		{"url=http://h/?a=1,2,name=a", clientSpec{name: "a", url: "http://h/?a=1,2"}},
		{"name=a,source=127.0.0.2,127.0.0.3,source=::1", clientSpec{name: "a", sources: []string{"127.0.0.2,127.0.0.3", "::1"}}},
		{"header=Accept: a, b,name=a,header=X: name", clientSpec{name: "a", header: []client.Header{{Name: "Accept", Value: "a, b"}, {Name: "X", Value: "name"}}}},
		{"", nil}, {"a", nil}, {",name=a", nil}, {"name=", nil}, {"name=a,rate=0", nil}, {"name=a,rate=1,rate=2", nil}, {"name=a,join=0", nil}, {"name=a,weight=x", nil}, {"name=a,url=ftp://h", nil},
	})
}

func TestParseClients(t *testing.T) {
	t.Parallel()
	have, err := parseClients("f", "# two\n\nname=a,rate=5\n  name=b,url=http://h/#x\r\n")
	want := []clientSpec{{name: "a", rate: 5}, {name: "b", url: "http://h/#x"}}
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("have %+v, %v; want %+v", have, err, want)
	}
	for text, want := range map[string]string{
		"":                        `"f": it holds no client`,
		"# none\n":                `"f": it holds no client`,
		"name=a\nname=b,rate=x\n": `f:2: rate: "x": want a number above 0`,
	} {
		if _, err := parseClients("f", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

func TestHideHeaders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ argv, want []string }{
		{[]string{"h", "fair", "--client", "name=a,header=Authorization: Basic x,y,rate=5"}, []string{"h", "fair", "--client", "name=a,header=Authorization: ***,rate=5"}},
		{[]string{"h", "--client=header=Cookie:x,name=a"}, []string{"h", "--client=header=Cookie: ***,name=a"}},
		{[]string{"h", "--client=name=a,rate=5", "header=Cookie: x"}, []string{"h", "--client=name=a,rate=5", "header=Cookie: x"}},
		{[]string{"--client"}, []string{"--client"}},
		{[]string{"name=a,header=b: c"}, []string{"name=a,header=b: c"}},
	} {
		before := slices.Clone(tt.argv)
		if have := hideHeaders(tt.argv); !slices.Equal(have, tt.want) || !slices.Equal(tt.argv, before) {
			t.Errorf("have %q, want %q; the original is %q", have, tt.want, tt.argv)
		}
	}
}

func FuzzClientSpec(f *testing.F) {
	for _, s := range []string{"name=a", "name=a,rate=5,weight=2,source=127.0.0.2,url=http://h/,header=A: b,join=1s,leave=2s", "name=a,,header=", "header=A: b,c,name=x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var c clientSpec
		if err := c.UnmarshalText([]byte(s)); err == nil && (c.name == "" || c.rate < 0 || c.weight < 0 || c.join < 0 || c.leave < 0) {
			t.Errorf("%q is read as %+v", s, c)
		}
		if _, ok := clientFields(s); !ok {
			return
		}
		if hidden := hideHeaders([]string{"--client", s}); len(hidden) != 2 {
			t.Errorf("%q", hidden)
		}
	})
}
