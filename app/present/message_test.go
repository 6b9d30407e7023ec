package present

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"short", 10, []string{"short"}},
		{"", 10, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"one  two", 4, []string{"one", "two"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"ab cdefghij k", 4, []string{"ab", "cdef", "ghij", "k"}},
		{"  indented line", 10, []string{"  indented", "line"}},
		{"\tx := 1\n\n\ty", 40, []string{"    x := 1", "", "    y"}},
		{"日本語のテスト", 5, []string{"日本", "語の", "テス", "ト"}},
		{"日", 1, []string{"日"}},
		{"a\nb c", 0, []string{"a", "b c"}},
	} {
		if d := cmp.Diff(c.want, Wrap(c.text, c.width)); d != "" {
			t.Errorf("Wrap(%q, %d) (-want +got):\n%s", c.text, c.width, d)
		}
	}
}

// FuzzWrap: nothing is lost but white space, and no line is too wide.
func FuzzWrap(f *testing.F) {
	f.Add("one two three", 5)
	f.Add("  a\tb 日本語 👩‍👩‍👧 e\u0301", 3)
	f.Fuzz(func(t *testing.T, text string, width int) {
		text = Text(text)
		width = 2 + (width&0x7fffffff)%60
		lines := Wrap(text, width)
		for _, l := range lines {
			if Width(l) > width && strings.ContainsRune(l, ' ') && Width(strings.Fields(l)[0]) < width {
				t.Errorf("%d cells in %d: %q", Width(l), width, l)
			}
		}
		strip := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got, want := strip(strings.Join(lines, " ")), strip(text); got != want {
			t.Errorf("Wrap(%q, %d) = %q", text, width, lines)
		}
	})
}

func TestWordsOfMessages(t *testing.T) {
	m := adapters.Message{Role: adapters.FromTool, Tool: "\x1b[31mBash\n"}
	if Tool(m) != "Bash" || Tool(adapters.Message{}) != "tool" || Speaker(m, agentname.Codex) != "" {
		t.Errorf("%q %q", Tool(m), Speaker(m, agentname.Codex))
	}
	m.Role = adapters.FromAgent
	if Speaker(m, agentname.Codex) != "Codex" {
		t.Error(Speaker(m, agentname.Codex))
	}
}
