package claudecode

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/adapters/internal/kit"
)

// read makes facts of lines.
func factsOf(t *testing.T, lines ...string) facts {
	t.Helper()
	var f facts
	var p parser
	for _, line := range lines {
		r, err := p.parse([]byte(strings.TrimSpace(line)))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		f.add(&r)
	}
	return f
}

// identified gives a line ids.
func identified(line, uuid, parent string) string {
	return strings.Replace(line, `"parentUuid":null`, fmt.Sprintf(`"parentUuid":%q,"uuid":%q`, parent, uuid), 1)
}

func meta(line string) string {
	return strings.Replace(line, `"isSidechain":false`, `"isSidechain":false,"isMeta":true`, 1)
}

const hello = "<command-message>hello</command-message>\n<command-name>/hello</command-name>\n<command-args>big fixture</command-args>"

const dequeue = `{"type":"queue-operation","operation":"dequeue"}`

func enqueue(text string) string {
	return fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","content":%q}`, text)
}

// What records mean for the last turn, in the forms that Claude Code 2.1.329
// wrote them, when live and when not.
func TestTurns(t *testing.T) {
	prompt, done := promptLine("hi"), doneLine("m1")
	call := callLine("m2", "t1", "Bash")
	notified := promptLine("<task-notification>\n<task-id>a1</task-id></task-notification>")
	resumed := strings.Replace(answerLine("s", "stop_sequence", `{"type":"text","text":"No response requested."}`), "claude-opus-5-5", "<synthetic>", 1)
	apiError := strings.Replace(strings.Replace(resumed, "No response requested.", "API Error: 400", 1), `"type":"assistant"`, `"isApiErrorMessage":true,"type":"assistant"`, 1)
	sidechain := strings.Replace(call, `"isSidechain":false`, `"isSidechain":true`, 1)
	for _, c := range []struct {
		name, outcome string
		lines         []string
	}{
		{"nothing", "", nil},
		{"a prompt", "open", []string{prompt}},
		{"an answer", "completed", []string{prompt, done}},
		{"a call", "open", []string{prompt, call}},
		{"a result", "open", []string{prompt, call, resultLine("t1")}},
		{"interrupted", "interrupted", []string{prompt, promptLine("[Request interrupted by user]")}},
		{"interrupted call", "interrupted", []string{prompt, call, resultLine("t1"), userLine(`[{"type":"text","text":"[Request interrupted by user for tool use]"}]`)}},
		{"ended by the system", "open", []string{prompt, promptLine("[Request interrupted: the session ended before this agent finished.")}},
		{"API error", "failed", []string{prompt, apiError}},
		{"resumed after an interruption", "interrupted", []string{prompt, promptLine("[Request interrupted by user]"), meta(promptLine("Continue from where you left off.")), resumed}},
		{"next prompt", "open", []string{prompt, done, promptLine("next")}},
		{"local command", "completed", []string{prompt, done, meta(promptLine("<local-command-caveat>Caveat")),
			identified(promptLine("<command-name>/cost</command-name>"), "c", "b"), identified(promptLine("<local-command-stdout>1 $</local-command-stdout>"), "d", "c")}},
		{"command to the model", "open", []string{prompt, done, identified(promptLine(hello), "c", "b"), identified(meta(userLine(`[{"type":"text","text":"Please"}]`)), "d", "c")}},
		{"command to the model, done", "completed", []string{identified(promptLine(hello), "c", "b"), identified(meta(userLine(`[{"type":"text","text":"Please"}]`)), "d", "c"), done}},
		{"stop hook", "open", []string{prompt, done, meta(promptLine("Stop hook feedback:\nnot done"))}},
		{"background task", "open", []string{prompt, done, notified}},
		{"sub-agent in the same file", "completed", []string{prompt, done, sidechain}},
		{"compacted", "completed", []string{prompt, done, strings.Replace(promptLine("This session is being continued"), `"isSidechain"`, `"isCompactSummary":true,"isSidechain"`, 1)}},
		{"compacted by 2.1.225", "completed", []string{prompt, done, identified(promptLine("/compact keep it short"), "c", "b"), `{"type":"system","subtype":"compact_boundary"}`,
			strings.Replace(promptLine("This session is being continued"), `"isSidechain"`, `"isCompactSummary":true,"isSidechain"`, 1)}},
		{"a path", "open", []string{prompt, done, promptLine("/compactor/x.go is broken")}},
		{"bash mode", "completed", []string{prompt, done, promptLine("<bash-input>ls</bash-input>"), promptLine("<bash-stdout>x</bash-stdout>")}},
		{"thinking", "open", []string{prompt, answerLine("m", "", `{"type":"thinking","thinking":"hm"}`)}},
		{"text, more to come", "open", []string{prompt, answerLine("m", "", `{"type":"text","text":"I will"}`)}},
		{"text, and the turn was measured", "completed", []string{prompt, answerLine("m", "", `{"type":"text","text":"I will"}`), `{"type":"system","subtype":"turn_duration"}`}},
		{"cut at the token limit", "open", []string{prompt, answerLine("m", "max_tokens", `{"type":"text","text":"I will"}`)}},
		{"an image", "open", []string{prompt, done, userLine(`[{"type":"image","source":{}}]`)}},
		{"still in the queue", "completed", []string{prompt, enqueue("next"), done}},
		{"taken back", "completed", []string{prompt, enqueue("next"), `{"type":"queue-operation","operation":"remove"}`, done, dequeue}},
		{"taken in the turn", "completed", []string{prompt, enqueue("more"), dequeue, done}},
		{"a command after an answer without a stop reason", "completed", []string{prompt, answerLine("m", "", `{"type":"text","text":"I am"}`),
			identified(promptLine("<command-name>/agents</command-name>"), "c", "b"), identified(promptLine("<local-command-stdout>x</local-command-stdout>"), "d", "c")}},
		{"zeros before a record", "completed", []string{prompt, "\x00\x00" + done}},
	} {
		f := factsOf(t, c.lines...)
		got := string(f.turn.outcome())
		if f.turn.state.isOpen() {
			got += "open"
		}
		if got != c.outcome {
			t.Errorf("%s: %q, want %q", c.name, got, c.outcome)
		}
	}
}

// Who said what: only a person's words, or a command to the model, are prompts.
func TestPrompts(t *testing.T) {
	for _, c := range []struct {
		first, last string
		lines       []string
	}{
		{"hi", "hi", []string{promptLine("  hi\n")}},
		{"a", "b", []string{promptLine("a"), doneLine("m"), promptLine("b"), promptLine("[Request interrupted by user]")}},
		{"a", "a", []string{meta(promptLine("meta")), promptLine("<command-name>/clear</command-name>"), promptLine("a"), resultLine("t"),
			promptLine("<task-notification>x</task-notification>")}},
		{"/hello big fixture", "/hello big fixture", []string{identified(promptLine(hello), "c", "b"), identified(meta(userLine(`[{"type":"text","text":"Please"}]`)), "d", "c")}},
		{"", "", []string{identified(promptLine(hello), "c", "b"), identified(meta(userLine(`[{"type":"text","text":"other"}]`)), "d", "x")}},
		{"one", "two", []string{enqueue("one"), dequeue, promptLine("one"), doneLine("m"), enqueue("two"), dequeue, promptLine("two")}},
		{"a", "a", []string{promptLine("a"), doneLine("m"), enqueue("<task-notification>x</task-notification>"), dequeue}},
		{"look at this", "look at this", []string{userLine(`[{"type":"text","text":"<ide_opened_file>x</ide_opened_file>"},{"type":"image"},{"type":"text","text":"look at this"}]`)}},
		{"", "", []string{strings.Replace(promptLine("by a peer"), `"isSidechain"`, `"origin":{"kind":"coordinator"},"isSidechain"`, 1)}},
		{"typed", "typed", []string{strings.Replace(promptLine("typed"), `"isSidechain"`, `"origin":{"kind":"human"},"isSidechain"`, 1)}},
	} {
		if f := factsOf(t, c.lines...); f.firstPrompt != c.first || f.lastPrompt != c.last {
			t.Errorf("%q: %q, %q; want %q, %q", c.lines, f.firstPrompt, f.lastPrompt, c.first, c.last)
		}
	}
}

// Titles, model, branch and folder: the newest says it, and a sub-agent doesn't.
func TestLatestWins(t *testing.T) {
	f := factsOf(t,
		`{"type":"attachment","attachment":{"type":"model","identity":{"modelId":"first"}},"cwd":"/a","gitBranch":"x","version":"2.1.1"}`,
		`{"type":"ai-title","aiTitle":"made up"}`, `{"type":"custom-title","customTitle":"old name"}`,
		doneLine("m"), `{"type":"custom-title","customTitle":"name"}`,
		strings.NewReplacer("claude-opus-5-5", "haiku", `"isSidechain":false`, `"isSidechain":true`, "/home/dev/proj", "/sub").Replace(doneLine("n")),
		strings.Replace(doneLine("o"), "claude-opus-5-5", "<synthetic>", 1))
	if f.model != "claude-opus-5-5" || f.cwd != "/home/dev/proj" || f.branch != "main" || f.version != "2.1.329" ||
		f.customTitle != "name" || f.aiTitle != "made up" || f.context != 213 {
		t.Errorf("%+v", f)
	}
	f = factsOf(t, doneLine("m"), `{"type":"relocated","relocatedCwd":"/moved"}`)
	if f.cwd != "/moved" {
		t.Errorf("relocated to %s", f.cwd)
	}
}

func TestVersions(t *testing.T) {
	for s, want := range map[string]bool{"2.0.77": false, "2.1.150": false, "2.1.151": true, "2.1.329": true, "3.0.0-beta.1": true, "": false, "x.y.z": false, "2.1": false} {
		if kit.AtLeast(s, floor.Version) != want {
			t.Errorf("AtLeast(%q) = %v", s, !want)
		}
	}
	if floor.IsOlder("") || floor.IsOlder("2.1.151") || !floor.IsOlder("2.1.150") {
		t.Error("IsOlder")
	}
}

// A new session's first prompt can be written after its answer: 2.1.280, 2.1.141.
func TestPromptAfterItsAnswer(t *testing.T) {
	first := strings.Replace(old(promptLine("hi"), time.Minute), `"parentUuid":null`, `"parentUuid":null,"uuid":"a"`, 1)
	if f := factsOf(t, doneLine("m1"), first); f.turn.state != endedWell || f.firstPrompt != "hi" {
		t.Errorf("state %v, first prompt %q", f.turn.state, f.firstPrompt)
	}
	if f := factsOf(t, callLine("m1", "t1", "AskUserQuestion"), first); !f.turn.onlyAsks() {
		t.Errorf("state %v", f.turn.state)
	}
	if f := factsOf(t, old(doneLine("m1"), time.Hour), first); f.turn.state != awaitsModel {
		t.Errorf("a conversation that begins anew: state %v", f.turn.state)
	}
	var n tailNeeds
	var p parser
	for i, line := range []string{first, doneLine("m1"), doneLine("m0")} { // backwards; an answer can have further records before
		r, err := p.parse([]byte(strings.TrimSpace(line)))
		if err != nil || n.settles(&r) != (i == 2) {
			t.Errorf("line %d: %v", i, err)
		}
	}
}

// A call whose result was never written is over once the model has answered again.
func TestCallWithoutResult(t *testing.T) {
	f := factsOf(t, promptLine("hi"), callLine("m1", "t1", "Grep"), callLine("m2", "t2", "Bash"), resultLine("t2"))
	if f.turn.state != awaitsModel || len(f.turn.pending) != 0 {
		t.Errorf("state %v, pending %v", f.turn.state, f.turn.pending)
	}
	f = factsOf(t, promptLine("hi"), callLine("m1", "t1", "Grep"), callLine("m1", "t2", "Bash"), resultLine("t2"))
	if f.turn.state != callsTools || len(f.turn.pending) != 1 {
		t.Errorf("two calls of one answer: state %v, pending %v", f.turn.state, f.turn.pending)
	}
}
