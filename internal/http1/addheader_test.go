package http1

import (
	"slices"
	"strings"
	"testing"
)

func TestParseAddHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		in     string
		want   string
		warned bool
		fields []Field
	}{
		{"one line", `X: y\n`, "X: y\r\n", false, []Field{{"X", "y"}}},
		{"two lines", `X: y\nZ:\n`, "X: y\r\nZ:\r\n", false, []Field{{"X", "y"}, {"Z", ""}}},
		{"CR and LF", `X: y\r\aZ: 1\a`, "X: y\r\nZ: 1\n", false, []Field{{"X", "y"}, {"Z", "1"}}},
		{"octal", `X: \101\7Z\0528\n`, "X: A\aZ*8\r\n", false, []Field{{"X", "A\aZ*8"}}},
		{"octal line end", `X: y\015\012`, "X: y\r\n", false, []Field{{"X", "y"}}},
		{"largest octal", `X: \377\n`, "X: \xff\r\n", false, []Field{{"X", "\xff"}}},
		{"backslash", `X: a\\nb\n`, `X: a\nb` + "\r\n", false, []Field{{"X", `a\nb`}}},
		{"backslash at the end", `X: a\\`, `X: a\` + "\r\n", true, []Field{{"X", `a\`}}},
		{"missing line end", `X: y`, "X: y\r\n", true, []Field{{"X", "y"}}},
		{"missing last line end", `X: y\nZ: 1`, "X: y\r\nZ: 1\r\n", true, []Field{{"X", "y"}, {"Z", "1"}}},
		{"line end as it is", "X: y\r\n", "X: y\r\n", false, []Field{{"X", "y"}}},
		{"colons and blanks", "X: \t a:b \t\\n", "X: \t a:b \t\r\n", false, []Field{{"X", "a:b"}}},
		{"empty", ``, "", false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			raw, warnings, err := ParseAddHeader(tt.in)
			if string(raw) != tt.want || err != nil {
				t.Fatalf("ParseAddHeader(%q) = %q, %v, want %q", tt.in, raw, err, tt.want)
			}
			if tt.warned != (len(warnings) == 1 && strings.Contains(warnings[0], "does not end its last line")) || len(warnings) > 1 {
				t.Errorf("ParseAddHeader(%q) warns %q, want a warning: %v", tt.in, warnings, tt.warned)
			}
			fields, err := SplitFields(raw)
			if !slices.Equal(fields, tt.fields) || err != nil {
				t.Errorf("SplitFields(%q) = %q, %v, want %q", raw, fields, err, tt.fields)
			}
		})
	}
}

func TestParseAddHeaderErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   string
		want string
	}{
		{"lone backslash", `X: y\n\`, `nothing follows the last backslash`},
		{"unknown escape", `X: \t\n`, `escape \t: want`},
		{"no octal digit", `X: \8\n`, `escape \8: want`},
		{"octal above a byte", `X: \400\n`, `escape \400: want`},
		{"no colon", `X\n`, `header line "X": want a name, a colon and a value`},
		{"no colon on the second line", `X: y\nZ\n`, `header line "Z": want a name`},
		{"no name", `: y\n`, `header name "": want a token`},
		{"blank before the colon", `X : y\n`, `header name "X ": want a token`},
		{"folded", `X: y\n z: 1\n`, `header name " z": want a token`},
		{"empty line", `X: y\n\n`, `header line "": want a name`},
		{"empty line with body", `X: y\n\nbody`, `header line "": want a name`},
		{"only a line end", `\n`, `header line "": want a name`},
		{"NUL", `X: \0\n`, `value with CR, LF or NUL`},
		{"bare CR", `X: a\rb\n`, `value with CR, LF or NUL`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			raw, _, err := ParseAddHeader(tt.in)
			if raw != nil || err == nil || !strings.HasPrefix(err.Error(), "http1: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ParseAddHeader(%q) = %q, %v, want an error with %s", tt.in, raw, err, tt.want)
			}
		})
	}
}

func TestSplitFieldsUnended(t *testing.T) {
	t.Parallel()
	_, err := SplitFields([]byte("X: y\r\nZ: 1"))
	if want := `http1: header line "Z": want a line end`; err == nil || err.Error() != want {
		t.Errorf("SplitFields = %v, want %s", err, want)
	}
}
