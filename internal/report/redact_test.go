package report

import (
	"slices"
	"testing"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		argv []string
		want []string
	}{
		{"query of a receiver", []string{"httpgen", "--push", "remote-write=http://u:p@a/w?token=x&y", "--push=pushgateway=http://a/?k=x"}, []string{"httpgen", "--push", "remote-write=http://u:***@a/w?***", "--push=pushgateway=http://a/?***"}},
		{"none", []string{"httpgen", "--rate", "2000", "http://a:80/x"}, []string{"httpgen", "--rate", "2000", "http://a:80/x"}},
		{"value apart", []string{"-H", "Authorization: Bearer s3cret"}, []string{"-H", "Authorization: ***"}},
		{"value joined", []string{"-HAuthorization: s3cret"}, []string{"-HAuthorization: ***"}},
		{"value after =", []string{"--header=Cookie: s3cret=1; b=2"}, []string{"--header=Cookie: ***"}},
		{"short with =", []string{"-H=X-Api-Key:s3cret"}, []string{"-H=X-Api-Key: ***"}},
		{"case", []string{"--header", "pRoXy-AuThOrIzAtIoN:Basic s3cret"}, []string{"--header", "pRoXy-AuThOrIzAtIoN: ***"}},
		{"other names", []string{"-H", "X-Auth-Token: s3cret", "-H", "Private-Token: s3cret", "-H", "api-key: s3cret", "-H", "Set-Cookie: s3cret"},
			[]string{"-H", "X-Auth-Token: ***", "-H", "Private-Token: ***", "-H", "api-key: ***", "-H", "Set-Cookie: ***"}},
		{"harmless field", []string{"-H", "Accept: text/html", "--header", "Host: token.example:8080"}, []string{"-H", "Accept: text/html", "--header", "Host: token.example:8080"}},
		{"harmless flag", []string{"--server", "cookie:80", "--uri", "/token:1"}, []string{"--server", "cookie:80", "--uri", "/token:1"}},
		{"file", []string{"--add-header-file", "cookie:1"}, []string{"--add-header-file", "cookie:1"}},
		{"several fields", []string{"--add-header", `X-A: b\nAuthorization: Bearer s3cret\nX-C: d\n`}, []string{"--add-header", `X-A: b\nAuthorization: ***\nX-C: d\n`}},
		{"octal line end", []string{`--add-header=Cookie: s3cret\r\012X-C: d\r\a`}, []string{`--add-header=Cookie: ***\012X-C: d\r\a`}},
		{"real line end", []string{"--add-header", "Cookie: s3cret\nX-C: d\n"}, []string{"--add-header", "Cookie: ***\nX-C: d\n"}},
		{"escaped backslash", []string{"--add-header", `Cookie: s3\\ncret\nX-C: d\n`}, []string{"--add-header", `Cookie: ***\nX-C: d\n`}},
		{"other escape", []string{"--add-header", `Cookie: s3\101cret\rs3cret\n`}, []string{"--add-header", `Cookie: ***\n`}},
		{"carriage return", []string{"--add-header", `X-A: b\rCookie: s3cret\n`}, []string{"--add-header", `X-A: b\rCookie: ***\n`}},
		{"folded", []string{"--add-header", `Authorization:\n s3cret\n` + "\ts3cret" + `\nX-C: d\n`}, []string{"--add-header", `Authorization: ***\n ***\n ***\nX-C: d\n`}},
		{"prefix", []string{"--add-head", `Cookie: s3cret\n`, "--ad=Cookie: s3cret", "--hea", "Cookie: s3cret"},
			[]string{"--add-head", `Cookie: ***\n`, "--ad=Cookie: ***", "--hea", "Cookie: ***"}},
		{"no escapes", []string{"-H", `Cookie: s3\ncret`, "-H", `X-A: b\nCookie: s3cret`}, []string{"-H", "Cookie: ***", "-H", `X-A: b\nCookie: ***`}},
		{"arm", []string{"--arm-header", "a=Authorization: s3cret"}, []string{"--arm-header", "a=Authorization: ***"}},
		{"user", []string{"--user", "joe:s3cret:x", "--user=joe:s3cret", "--user", "s3cret"}, []string{"--user", "joe:***", "--user=joe:***", "--user", "***"}},
		{"user is no prefix", []string{"--use-timer-cache", "a:b", "--user-agent", "a:b"}, []string{"--use-timer-cache", "a:b", "--user-agent", "a:b"}},
		{"address", []string{"http://joe:s3cret@h:80/a@b:c", "--url=https://joe:s3:c@ret@h", "a=http://:s3cret@h?x=http://u:s3cret@i"},
			[]string{"http://joe:***@h:80/a@b:c", "--url=https://joe:***@h", "a=http://:***@h?x=http://u:***@i"}},
		{"no password", []string{"http://joe@h/", "http://h:80/a@b", "http://h:80?a=@", "trace:FILE@2x", "100..5000@60s"},
			[]string{"http://joe@h/", "http://h:80/a@b", "http://h:80?a=@", "trace:FILE@2x", "100..5000@60s"}},
		{"value like a flag", []string{"--add-header", "--user=a:b", "--user", "joe:s3cret"}, []string{"--add-header", "--user=a:b", "--user", "joe:***"}},
		{"address in a field", []string{"-H", "Referer: http://joe:s3cret@h/"}, []string{"-H", "Referer: http://joe:***@h/"}},
		{"body", []string{"-d", "s3cret", "-ds3cret", "-d=s3cret", "--data", "-s3cret", "--data=s3cret", "--dat=s3cret"}, []string{"-d", "***", "-d***", "-d***", "--data", "***", "--data=***", "--dat=***"}},
		{"body of a file", []string{"-d", "@a", "-d@a", "--data=@a", "--data-file", "a", "-D", "a", "--debug", "1", "--deadline=5"}, []string{"-d", "@a", "-d@a", "--data=@a", "--data-file", "a", "-D", "a", "--debug", "1", "--deadline=5"}},
		{"flags together", []string{"-qH", "Cookie: s3cret", "-vvqHCookie: s3cret", "-kLd", "s3cret", "-4ds3cret"}, []string{"-qH", "Cookie: ***", "-vvqHCookie: ***", "-kLd", "***", "-4d***"}},
		{"other flags together", []string{"-vr", "5", "-n5", "-z", "4d", "-c6"}, []string{"-vr", "5", "-n5", "-z", "4d", "-c6"}},
		{"nothing follows", []string{"--add-header"}, []string{"--add-header"}},
		{"odd", []string{"--", "--=", "-", "", "--add-header="}, []string{"--", "--=", "-", "", "--add-header="}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			given := slices.Clone(tt.argv)
			if got := Redact(given); !slices.Equal(got, tt.want) {
				t.Errorf("Redact(%q) = %q, want %q", tt.argv, got, tt.want)
			}
			if !slices.Equal(given, tt.argv) {
				t.Errorf("Redact changed its argument to %q", given)
			}
			if got := Redact(tt.want); !slices.Equal(got, tt.want) {
				t.Errorf("a second time gives %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAddedHeaders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		argv []string
		want []string
	}{
		{"none", []string{"httpgen", "--rate", "5", "-H", "A: b", "--header=C: d", "--add-header-file", "e"}, nil},
		{"attached", []string{"httpgen", `--add-header=A: b\nC: \101\n`}, []string{`A: b\nC: \101\n`}},
		{"apart and shortened", []string{"httpgen", "--add-head", `A: b\n`, "--ad", `C: d\n`}, []string{`A: b\n`, `C: d\n`}},
		{"secrets", []string{"httpgen", `--add-header=Authorization: Basic s3cret\nX: y\nCookie: s3cret\n`}, []string{`Authorization: ***\nX: y\nCookie: ***\n`}},
		{"secret in an address", []string{"httpgen", "--add-header", `Referer: http://joe:s3cret@h/\n`}, []string{`Referer: http://joe:***@h/\n`}},
		{"controls", []string{"httpgen", "--add-header", "A: b\r\nC:\td\nE: f\x1b[0m\r"}, []string{`A: b\nC:\011d\aE: f\033[0m\r`}},
		{"secret with real line ends", []string{"httpgen", "--add-header", "Cookie: s3cret\n s3cret\nA: b\n"}, []string{`Cookie: ***\a ***\aA: b\a`}},
		{"value of another flag", []string{"httpgen", "-H", "--add-header=a", "--add-header", "B: c"}, []string{"B: c"}},
		{"value of a short flag", []string{"httpgen", "-d", "--add-header=a", "-qd", "--add-header=b", "-dc", "--add-header", "D: e"}, []string{"D: e"}},
		{"nothing follows", []string{"httpgen", "--add-header"}, nil},
		{"after the flags", []string{"httpgen", "--", "--add-header=a"}, nil},
		{"empty", []string{"httpgen", "--add-header="}, []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if have := AddedHeaders(tt.argv); !slices.Equal(have, tt.want) {
				t.Errorf("AddedHeaders(%q) = %q, want %q", tt.argv, have, tt.want)
			}
		})
	}
}
