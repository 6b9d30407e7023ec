package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"rollcall/app/store"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestRecordsKeepTheBeginningOfThePrompt: of a prompt of 3 MB a record has 200 characters. The hooks have all of it, and
// after them nobody.
func TestRecordsKeepTheBeginningOfThePrompt(t *testing.T) {
	s := newStage(t, &fake{})
	s.tray()
	prompt := strings.Repeat("é", 1<<20) + "end"
	out := filepath.Join(t.TempDir(), "prompt")
	r := s.start(func(r *Request) {
		r.Task.Prompt = prompt
		r.Hooks = []Hook{{When: OnComplete, Command: `cp "$ROLLCALL_PROMPT_FILE" ` + out + `.tmp && mv ` + out + `.tmp ` + out}}
	}).Record
	if n := utf8.RuneCountInString(r.Prompt); n != 200 {
		t.Errorf("the record has %d characters", n)
	}
	if info, err := os.Stat(s.records.File(r.ID)); err != nil || info.Size() > 4000 {
		t.Errorf("the record: %v, %v", info, err)
	}
	if info, err := os.Stat(s.promptFile(r.ID)); err != nil || info.Mode() != 0o600 || info.Size() != int64(len(prompt)) {
		t.Errorf("the prompt: %v, %v", info, err)
	}
	s.until("the session", func() bool { return s.only().Seen })
	s.finish(s.only().Session)
	s.until("the hook", func() bool {
		text, err := os.ReadFile(out)
		return err == nil && string(text) == prompt
	})
	s.until("the end of the prompt", func() bool { _, err := os.Stat(s.promptFile(r.ID)); return errors.Is(err, fs.ErrNotExist) })
	if _, err := os.Stat(s.logFile(r.ID)); err != nil {
		t.Errorf("the log is gone too: %v", err)
	}
}

// TestOldRecordsWithLongPrompts are read, and shown like new ones.
func TestOldRecordsWithLongPrompts(t *testing.T) {
	s := newStage(t, &fake{})
	old := Record{ID: "l-0011223344", Agent: s.Name(), Dir: s.dir, Prompt: strings.Repeat("long ", 1000), Process: proc.Self(), Starter: proc.Self(), LaunchedAt: s.now()}
	must.Do(t, store.Below(s.state, store.Launches).Write(old.ID, old))
	if got := s.only(); got.Prompt != old.Prompt {
		t.Errorf("it was read as %q", got.Prompt)
	}
	x := s.onlyShown(s.core())
	if x.Launch == nil || len(x.Launch.Prompt) != 200 || len(x.FirstPrompt) != 200 {
		t.Errorf("%+v, %+v", x, x.Launch)
	}
}

func TestPromptHead(t *testing.T) {
	for prompt, want := range map[string]string{
		"": "", "short": "short", strings.Repeat("x", 200): strings.Repeat("x", 200), strings.Repeat("x", 201): strings.Repeat("x", 200),
		strings.Repeat("漢", 300): strings.Repeat("漢", 200), "a\xffb": "a\uFFFDb",
	} {
		if got := promptHead(prompt); got != want {
			t.Errorf("%q: %q", prompt, got)
		}
	}
}
