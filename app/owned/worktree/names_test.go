package worktree

import (
	"regexp"
	"strings"
	"testing"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // registers every agent
)

func TestSuffixes(t *testing.T) {
	for _, tt := range []struct{ slots, want string }{
		{"claude-code codex", "cc codex"},
		{"opencode openclaw", "oc claw"},
		{"pi pi-rust", "pi pi-rs"},
		{"claude-code:claude-opus-4-6", "cc"},
		{"claude-code:claude-opus-4-6 claude-code:claude-sonnet-5-5 codex", "cc-opus cc-sonnet codex"},
		{"claude-code claude-code claude-code", "cc cc-2 cc-3"},
		{"codex:gpt-5.2-codex codex:gpt-5 codex:gpt-5.1", "codex-gpt5-codex codex-gpt5 codex-gpt5-2"},
		{"opencode:openai/o4 opencode:vllm/qwen-fp8 opencode:x/fp8", "oc-o4 oc-fp8 oc-fp8-2"},
		{"pi:../../etc pi:; pi:ü", "pi-etc pi-default pi-default-2"},
		{"strange/../agent", "strangeagent"},
	} {
		var slots []Slot
		for s := range strings.FieldsSeq(tt.slots) {
			agent, model, _ := strings.Cut(s, ":")
			slots = append(slots, Slot{adapters.Name(agent), model})
		}
		got := Suffixes(slots)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.slots, got, tt.want)
		}
		for _, s := range got {
			if err := checkName("suffix", s); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestGroups(t *testing.T) {
	if g := NewGroup(); !regexp.MustCompile(`^g-[0-9a-f]{6}$`).MatchString(g) {
		t.Error(g)
	}
	if f := Folder("/src/proj", "g-1", "cc"); f != "/src/proj-try-g-1-cc" {
		t.Error(f)
	}
	if f := Folder("/src/proj.git", "g-1", "cc"); f != "/src/proj-try-g-1-cc" {
		t.Error(f)
	}
	for _, tt := range []struct{ branch, folder, group, suffix string }{
		{"try/g-a1b2c3/cc", "/anywhere", "g-a1b2c3", "cc"},
		{"try/mine/cc", "/anywhere", "mine", "cc"},
		{"try/alone", "/anywhere", "", ""},
		{"", "/src/proj-try-g-a1b2c3-pi-rs", "g-a1b2c3", "pi-rs"},
		{"fix", "/src/proj-try-g-a1b2c3-cc-2", "g-a1b2c3", "cc-2"},
		{"fix", "/src/proj-try-something-else", "", ""},
		{"fix", "/src/other-try-g-a1b2c3-cc", "", ""},
	} {
		if g, s := groupOf("/src/proj", tt.branch, tt.folder); g != tt.group || s != tt.suffix {
			t.Errorf("%q %q: %q %q", tt.branch, tt.folder, g, s)
		}
	}
}

func TestNamesAreRefused(t *testing.T) {
	for _, name := range []string{"", "-x", "a/b", "..", "a b", "a\n", strings.Repeat("a", 101)} {
		if checkName("group", name) == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

func FuzzParsers(f *testing.F) {
	f.Add([]byte("worktree /a\x00HEAD 12\x00branch refs/heads/try/g/s\x00locked why\x00\x00"))
	f.Add([]byte("1 M. a\x002 R. new\x00old\x00? x\x00! y/\x00"))
	f.Add([]byte(":1 1 a b R100\x00x\x00y\x00:1 2 a b M\x00z\x001\t2\tp\x00-\t-\t\x00a\x00b\x00"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		parseWorktrees(b)
		parseStatus(b)
		parseDiff(b)
		parseLog(b)
		parseReflog(b)
		hiddenFiles(b, func(string) bool { return true })
	})
}
