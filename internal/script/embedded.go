package script

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// The limits of Embedded. A page is the server's, so it must not decide how long
// the generator is busy with it.
const (
	maxEmbedded   = 1000    // URIs in the result
	maxReferences = 10_000  // references looked at
	maxReference  = 8 << 10 // bytes; a longer one is skipped
)

// Embedded returns the request targets of what a browser fetches by itself to
// show an HTML page, on the server of the page (scheme, host and port): images,
// scripts, style sheets, icons, frames, embedded objects, audio and video.
// Base is the absolute http or https URL of the page. Location is the value of
// the reply's Location field, empty without one; its target comes first, then
// those of the page in their order, without the page itself. Each comes once;
// fragments are dropped. What is no URL is skipped. There are at most 1000.
func Embedded(base *url.URL, page []byte, location string) []string {
	e := embedder{page: base, base: base, seen: map[string]bool{}}
	if location != "" {
		e.add(location)
	}
	e.seen[target(base)] = true
	z := html.NewTokenizer(bytes.NewReader(page))
	for based := false; !e.full(); {
		switch z.Next() {
		case html.ErrorToken:
			return e.uris
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.Data != "base" {
				e.tag(t)
			} else if href := attribute(t, "href"); href != "" && !based {
				// The first counts; a later one is ignored.
				based = true
				if u := e.resolve(href); u != nil {
					e.base = u
				}
			}
		}
	}
	return e.uris
}

type embedder struct {
	page   *url.URL
	base   *url.URL // of references
	seen   map[string]bool
	uris   []string
	looked int // references looked at
}

func (e *embedder) full() bool {
	return len(e.uris) == maxEmbedded || e.looked == maxReferences
}

// tag adds what a tag refers to.
func (e *embedder) tag(t html.Token) {
	name := ""
	switch t.Data {
	case "img", "script", "frame", "iframe", "embed", "source", "audio", "video":
		name = "src"
	case "input":
		if strings.EqualFold(attribute(t, "type"), "image") {
			name = "src"
		}
	case "link":
		if slices.ContainsFunc(strings.Fields(attribute(t, "rel")), isFetched) {
			name = "href"
		}
	case "object":
		name = "data"
	case "body":
		name = "background"
	}
	if name == "" {
		return
	}
	if ref := attribute(t, name); ref != "" {
		e.add(ref)
	}
}

// isFetched reports whether a browser fetches what a link of that relation
// refers to.
func isFetched(rel string) bool {
	return strings.EqualFold(rel, "stylesheet") || strings.EqualFold(rel, "icon")
}

// attribute returns the first attribute of that name without the blanks around
// its value, empty without one.
func attribute(t html.Token, name string) string {
	i := slices.IndexFunc(t.Attr, func(a html.Attribute) bool { return a.Key == name })
	if i < 0 {
		return ""
	}
	return strings.Trim(t.Attr[i].Val, " \t\r\n\f")
}

// add adds the target of a reference, if it is new and on the server of the
// page.
func (e *embedder) add(ref string) {
	e.looked++
	u := e.resolve(ref)
	if u == nil || !sameServer(u, e.page) {
		return
	}
	if uri := target(u); !e.seen[uri] {
		e.seen[uri] = true
		e.uris = append(e.uris, uri)
	}
}

// lineBreaks removes what is ignored in a URL (URL standard, 4.4).
var lineBreaks = strings.NewReplacer("\t", "", "\r", "", "\n", "")

// resolve returns the URL that ref refers to, nil if there is none.
func (e *embedder) resolve(ref string) *url.URL {
	if len(ref) > maxReference {
		return nil
	}
	u, err := url.Parse(lineBreaks.Replace(ref))
	if err != nil {
		return nil
	}
	return e.base.ResolveReference(u)
}

// sameServer reports whether u is on the server of page.
func sameServer(u, page *url.URL) bool {
	if u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" {
		return false
	}
	return u.Scheme == page.Scheme && strings.EqualFold(u.Hostname(), page.Hostname()) && port(u) == port(page)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// target returns the request target of u in origin form. Blanks in a query,
// which url.URL leaves as they are, are encoded.
func target(u *url.URL) string {
	return strings.ReplaceAll(u.RequestURI(), " ", "%20")
}
