package script

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func mustParse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		base     string
		page     string
		location string
		want     []string
	}{
		{"nothing", "http://h/", "", "", nil},
		{"no page", "http://h/", "\x00<<<>&\xff", "", nil},
		{"every tag", "http://h/d/p.html", `<!DOCTYPE html><html><head>
			<link rel=stylesheet href=a.css><link rel="Shortcut ICON" href=/b.ico><link rel=next href=no><link href=no>
			<script src="c.js"></script><script>document.write("<img src=no>")</script></head>
			<BODY BACKGROUND=d.png><img alt=x SRC='e.gif'/><!-- <img src=no> --><frame src=f><iframe src=g></iframe><embed src=h>
			<object data=i></object><input type=IMAGE src=j><input type=text src=no><input src=no>
			<source src=k><audio src=l></audio><video src=m poster=no></video><a href=no>x</a></body>`, "",
			[]string{"/d/a.css", "/b.ico", "/d/c.js", "/d/d.png", "/d/e.gif", "/d/f", "/d/g", "/d/h", "/d/i", "/d/j", "/d/k", "/d/l", "/d/m"}},
		{"same server", "http://h/", `<img src=http://h/1><img src=//H:80/2><img src=https://h/no><img src=http://h:81/no><img src=http://hh/no><img src=data:image/gif,no><img src=http:no><img src=javascript:no><img src=mailto:a@h>`, "", []string{"/1", "/2"}},
		{"same port", "https://h:443/", `<img src=https://h/1><img src=http://h:443/no>`, "", []string{"/1"}},
		{"IPv6", "http://[::1]:8080/", `<img src=http://[::1]:8080/1><img src=http://[::2]:8080/no>`, "", []string{"/1"}},
		{"once, without fragments", "http://h/", `<img src=a><img src=/a><img src=a#x><img src=b?c#d><img src=b?c>`, "", []string{"/a", "/b?c"}},
		{"not the page", "http://h/p?q", `<img src=""><img src="#x"><img src="?q"><iframe src=p?q></iframe><img src=" "><img src=p>`, "", []string{"/p"}},
		{"base", "http://h/d/p", `<img src=1><base href="/e/"><base href="/no/"><img src=2>`, "", []string{"/d/1", "/e/2"}},
		{"base without a reference", "http://h/d/p", `<base target=x><base href=/e/><img src=2>`, "", []string{"/e/2"}},
		{"base on another server", "http://h/d/p", `<base href="http://other/"><img src=no><img src=http://h/1>`, "", []string{"/1"}},
		{"base that is no URL", "http://h/d/p", `<base href="http://[/"><img src=1>`, "", []string{"/d/1"}},
		{"encoding", "http://h/", "<img src='\n a b?c d&amp;e=\"é '><img src='f\n\tg'><img src='/%41'><img src=%zz>", "", []string{"/a%20b?c%20d&e=\"é", "/fg", "/%41"}},
		{"dots", "http://h/a/b", `<img src=../../c><img src=./d>`, "", []string{"/c", "/a/d"}},
		{"redirect", "http://h/a", `<img src=/b><img src=1>`, "/b#x", []string{"/b", "/1"}},
		{"redirect to the page", "http://h/a", "", "http://h/a", []string{"/a"}},
		{"redirect elsewhere", "http://h/a", "", "https://h/a", nil},
		{"broken redirect", "http://h/a", "", "http://[", nil},
		{"user information", "http://u:p@h/", `<img src=a><img src=http://v:w@h/b>`, "", []string{"/a", "/b"}},
		{"raw text", "http://h/", `<textarea><img src=no></textarea><title><img src=no></title><style><img src=no></style><img src=a>`, "", []string{"/a"}},
		{"cut tag", "http://h/", `<img src=a><img src="b`, "", []string{"/a"}},
		{"first attribute", "http://h/", `<img src=a src=no>`, "", []string{"/a"}},
		{"long reference", "http://h/", `<img src=` + strings.Repeat("x", maxReference+1) + `><img src=a>`, "", []string{"/a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := Embedded(mustParse(t, tt.base), []byte(tt.page), tt.location)
			if !slices.Equal(got, tt.want) {
				t.Errorf("Embedded(%q, %q, %q)\n got %q\nwant %q", tt.base, tt.page, tt.location, got, tt.want)
			}
		})
	}
}

func TestEmbeddedBounds(t *testing.T) {
	t.Parallel()
	var page, elsewhere strings.Builder
	var want []string
	for i := range maxReferences {
		fmt.Fprintf(&page, "<img src=%d>", i)
		fmt.Fprintf(&elsewhere, "<img src=//other/%d>", i)
		if i < maxEmbedded {
			want = append(want, fmt.Sprintf("/%d", i))
		}
	}
	base := mustParse(t, "http://h/")
	if got := Embedded(base, []byte(page.String()), ""); !slices.Equal(got, want) {
		t.Errorf("got %d URIs, want the first %d", len(got), len(want))
	}
	if got := Embedded(base, []byte(elsewhere.String()+"<img src=a>"), ""); got != nil {
		t.Errorf("got %q behind %d references, want none", got, maxReferences)
	}
}

// A page of what was found embeds the same.
func FuzzEmbedded(f *testing.F) {
	for _, s := range []string{
		`<link rel=icon href=a><base href="/b/"><script src=c></script><input type=image src="d e?f g#h">`, `<img src="//[::1]/`, `<base href=data:x><img src=?>`, "<img src=http:&#10;x>",
	} {
		f.Add([]byte(s), "/r")
	}
	f.Fuzz(func(t *testing.T, page []byte, location string) {
		base := &url.URL{Scheme: "http", Host: "h", Path: "/d/p"}
		got := Embedded(base, page, location)
		if len(got) > maxEmbedded {
			t.Fatalf("%d URIs, want no more than %d", len(got), maxEmbedded)
		}
		seen := map[string]bool{}
		for _, uri := range got {
			if !strings.HasPrefix(uri, "/") || !isUnbroken(uri) || strings.Contains(uri, "#") || seen[uri] {
				t.Fatalf("%q, %q: %q: want each target once, in origin form", page, location, got)
			}
			seen[uri] = true
		}
	})
}
