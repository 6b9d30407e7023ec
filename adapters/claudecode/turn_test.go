package claudecode

import (
	"fmt"
	"strings"
	"testing"
	"time"
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
		name, live, dead string
		lines            []string
	}{
		{"nothing", "", "", nil},
		{"a prompt", "", "died", []string{prompt}},
		{"an answer", "completed", "completed", []string{prompt, done}},
		{"a call", "", "died", []string{prompt, call}},
		{"a result", "", "died", []string{prompt, call, resultLine("t1")}},
		{"interrupted", "interrupted", "interrupted", []string{prompt, promptLine("[Request interrupted by user]")}},
		{"interrupted call", "interrupted", "interrupted", []string{prompt, call, resultLine("t1"), userLine(`[{"type":"text","text":"[Request interrupted by user for tool use]"}]`)}},
		{"ended by the system", "", "died", []string{prompt, promptLine("[Request interrupted: the session ended before this agent finished.")}},
		{"API error", "failed", "failed", []string{prompt, apiError}},
		{"resumed after an interruption", "interrupted", "interrupted", []string{prompt, promptLine("[Request interrupted by user]"), meta(promptLine("Continue from where you left off.")), resumed}},
		{"next prompt", "", "died", []string{prompt, done, promptLine("next")}},
		{"local command", "completed", "completed", []string{prompt, done, meta(promptLine("<local-command-caveat>Caveat")),
			identified(promptLine("<command-name>/cost</command-name>"), "c", "b"), identified(promptLine("<local-command-stdout>1 $</local-command-stdout>"), "d", "c")}},
		{"command to the model", "", "died", []string{prompt, done, identified(promptLine(hello), "c", "b"), identified(meta(userLine(`[{"type":"text","text":"Please"}]`)), "d", "c")}},
		{"command to the model, done", "completed", "completed", []string{identified(promptLine(hello), "c", "b"), identified(meta(userLine(`[{"type":"text","text":"Please"}]`)), "d", "c"), done}},
		{"stop hook", "", "died", []string{prompt, done, meta(promptLine("Stop hook feedback:\nnot done"))}},
		{"background task", "", "died", []string{prompt, done, notified}},
		{"sub-agent in the same file", "completed", "completed", []string{prompt, done, sidechain}},
		{"compacted", "completed", "completed", []string{prompt, done, strings.Replace(promptLine("This session is being continued"), `"isSidechain"`, `"isCompactSummary":true,"isSidechain"`, 1)}},
		{"compacted by 2.1.225", "completed", "completed", []string{prompt, done, identified(promptLine("/compact keep it short"), "c", "b"), `{"type":"system","subtype":"compact_boundary"}`,
			strings.Replace(promptLine("This session is being continued"), `"isSidechain"`, `"isCompactSummary":true,"isSidechain"`, 1)}},
		{"a path", "", "died", []string{prompt, done, promptLine("/compactor/x.go is broken")}},
		{"bash mode", "completed", "completed", []string{prompt, done, promptLine("<bash-input>ls</bash-input>"), promptLine("<bash-stdout>x</bash-stdout>")}},
		{"thinking", "", "died", []string{prompt, answerLine("m", "", `{"type":"thinking","thinking":"hm"}`)}},
		{"text, more to come", "completed", "died", []string{prompt, answerLine("m", "", `{"type":"text","text":"I will"}`)}},
		{"text, and the turn was measured", "completed", "completed", []string{prompt, answerLine("m", "", `{"type":"text","text":"I will"}`), `{"type":"system","subtype":"turn_duration"}`}},
		{"cut at the token limit", "", "died", []string{prompt, answerLine("m", "max_tokens", `{"type":"text","text":"I will"}`)}},
		{"an image", "", "died", []string{prompt, done, userLine(`[{"type":"image","source":{}}]`)}},
		{"taken from the queue", "", "died", []string{prompt, done, enqueue("next"), dequeue}},
		{"taken from the queue first", "", "died", []string{enqueue("hi"), dequeue}},
		{"still in the queue", "completed", "completed", []string{prompt, enqueue("next"), done}},
		{"2.1.20 without a terminal", "", "died", []string{dequeue}},
		{"2.1.20 without a terminal, resumed", "", "died", []string{dequeue, prompt, done, dequeue}},
		{"2.1.20 without a terminal, done", "completed", "completed", []string{dequeue, prompt, done}},
		{"taken back", "completed", "completed", []string{prompt, enqueue("next"), `{"type":"queue-operation","operation":"remove"}`, done, dequeue}},
		{"taken in the turn", "completed", "completed", []string{prompt, enqueue("more"), dequeue, done}},
		{"local command from the queue", "completed", "completed", []string{prompt, enqueue("/cost"), done, dequeue}},
		{"zeros before a record", "completed", "completed", []string{prompt, "\x00\x00" + done}},
	} {
		f := factsOf(t, c.lines...)
		if live, dead := f.turn.outcome(true, f.version), f.turn.outcome(false, f.version); string(live) != c.live || string(dead) != c.dead {
			t.Errorf("%s: live %q, dead %q; want %q, %q", c.name, live, dead, c.live, c.dead)
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

// Versions 2.0.x write the prompt of a run with -p first through the queue.
func TestPromptFromQueue(t *testing.T) {
	if f := factsOf(t, enqueue("one"), dequeue); f.firstPrompt != "" || f.queuedPrompt != "one" || f.lastPrompt != "one" {
		t.Errorf("%q, %q, %q", f.firstPrompt, f.queuedPrompt, f.lastPrompt)
	}
	// A fork's own prompt comes before the copied ones.
	if f := factsOf(t, enqueue("fork"), dequeue, promptLine("one"), doneLine("m"), promptLine("fork")); f.firstPrompt != "one" || f.lastPrompt != "fork" {
		t.Errorf("%q, %q", f.firstPrompt, f.lastPrompt)
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
	for s, want := range map[string]bool{"2.0.77": false, "2.1.50": false, "2.1.75": true, "2.1.329": true, "3.0.0-beta.1": true, "": false, "x.y.z": false, "2.1": false} {
		if hasRegistry(s) != want {
			t.Errorf("hasRegistry(%q) = %v", s, !want)
		}
	}
	if !titledElsewhere("1.0.128") || titledElsewhere("2.1.0") || titledElsewhere("junk") {
		t.Error("titledElsewhere")
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
	for i, line := range []string{first, doneLine("m1")} { // backwards
		r, err := p.parse([]byte(strings.TrimSpace(line)))
		if err != nil || n.settles(&r) != (i == 1) {
			t.Errorf("line %d: %v", i, err)
		}
	}
}
