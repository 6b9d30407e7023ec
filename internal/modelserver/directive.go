package modelserver

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// usage is what an answer states to have cost, in tokens. The Messages API states what the cache gave and got beside the input, the others the first as a
// part of it, and nothing of the second. What is negative is as usual for the API.
type usage struct{ input, output, cached, written, reasoning int }

var defaultUsage = usage{100, 20, -1, -1, -1}

// orUsual returns n, or what is usual if it is negative.
func orUsual(n, usual int) int {
	if n < 0 {
		return usual
	}
	return n
}

func (u usage) ofMessages() Used {
	return Used{Input: u.input, CacheRead: orUsual(u.cached, cacheReadTokens), CacheWrite: orUsual(u.written, cacheWriteTokens), Output: u.output}
}

func (u usage) ofOpenAI() Used {
	cached := min(orUsual(u.cached, cachedTokens), u.input)
	return Used{Input: u.input - cached, CacheRead: cached, Output: u.output, Reasoning: min(orUsual(u.reasoning, reasoningTokens), u.output)}
}

func (u usage) ofGemini() Used {
	used := u.ofOpenAI()
	used.Reasoning = orUsual(u.reasoning, reasoningTokens)
	used.Output += used.Reasoning
	return used
}

// toolKind is which of the agent's tools an answer calls.
type toolKind int

const (
	noTool toolKind = iota
	shellTool
	askTool
	agentTool
	patchTool
	namedTool
)

// plan is what the server will answer to one request.
type plan struct {
	text  string
	said  bool // the prompt names the text
	delay time.Duration
	hold  string // the answer waits for Release of this name
	fail  int    // HTTP status; 0: answer
	retry string // header Retry-After of a failure, in seconds; may be empty
	cut   bool   // the answer ends at the limit of its tokens
	once  bool   // only the first request with this prompt fails
	usage usage
	// limits are the used shares of 5 hours and a week in per cent; nil: none are stated.
	limits []float64

	tool      toolKind
	argument  string // the command, the patch, the sub-agent's prompt, or the name of a tool and its input
	folder    string // in which the command runs, for shells that take one; empty: that of the session
	escalated bool
	behind    bool // the command runs in the background, for shells that take that
}

var directivePattern = regexp.MustCompile(`(?s)\[\[(delay|hold|cut|say|bash|call|move|in|esc|behind|ask|agent|fail|once|usage|limits|title)(?:\s+(.*?))?\]\]`)

// question is what a request asks of the model, whatever its wire format.
type question struct {
	prompt     string // newest message of the user
	toolResult bool   // a tool's result came after it
	side       bool   // not the main conversation
	answered   bool   // an answer came after it: the agent asks for something of its own (chat completions)
}

// newPrompt begins a prompt: directives before it are of earlier ones, which an agent sends in the same message again, since they were not answered.
const newPrompt = "[[new]]"

// planFor reads the directives.
func planFor(q question) plan {
	if at := strings.LastIndex(q.prompt, newPrompt); at >= 0 {
		q.prompt = q.prompt[at:]
	}
	p := plan{usage: defaultUsage}
	switch {
	case q.side:
		p.text = "Mock generated title"
		if strings.Contains(q.prompt, "<state_snapshot>") { // a summary of Qwen Code or Gemini CLI, which is dropped without one
			p.text = "<state_snapshot>Mock summary</state_snapshot>"
		}
		for _, m := range directivePattern.FindAllStringSubmatch(q.prompt, -1) {
			if m[1] == "title" {
				p.text = strings.TrimSpace(m[2])
			}
		}
		return p
	case q.toolResult:
		p.text = "Done."
		for _, m := range directivePattern.FindAllStringSubmatch(q.prompt, -1) {
			if m[1] == "hold" {
				p.hold = strings.TrimSpace(m[2])
			}
		}
		return p
	}
	p.text = "Mock answer to: " + q.prompt
	for _, m := range directivePattern.FindAllStringSubmatch(q.prompt, -1) {
		p.apply(m[1], strings.TrimSpace(m[2]))
	}
	return p
}

func (p *plan) apply(name, argument string) {
	switch name {
	case "delay":
		if seconds, err := strconv.ParseFloat(argument, 64); err == nil && seconds > 0 {
			p.delay = time.Duration(seconds * float64(time.Second))
		}
	case "say":
		p.text = strings.ReplaceAll(argument, `\n`, "\n")
		p.said = true
	case "hold":
		p.hold = argument
	case "cut":
		p.cut = true
	case "bash":
		p.call(shellTool, argument, "I will use the shell.")
	case "call":
		p.call(namedTool, argument, "I will use a tool.")
	case "move":
		from, to, _ := strings.Cut(argument, " ")
		p.call(patchTool, "*** Begin Patch\n*** Update File: "+from+"\n*** Move to: "+to+"\n@@\n-hello\n+changed\n*** End Patch", "I will tidy up.")
	case "in":
		p.folder = argument
	case "esc":
		p.escalated = true
	case "behind":
		p.behind = true
	case "ask":
		p.call(askTool, "", "I will ask.")
	case "agent":
		inner := strings.NewReplacer("((", "[[", "))", "]]").Replace(argument)
		p.call(agentTool, inner, "I will use a sub-agent.")
	case "fail":
		p.fail = 500
		argument, p.retry, _ = strings.Cut(argument, " ")
		if status, err := strconv.Atoi(argument); err == nil && status >= 400 && status < 600 {
			p.fail = status
		}
	case "once":
		p.once = true
	case "usage":
		p.usage = parseUsage(argument)
	case "limits":
		p.limits = parseLimits(argument)
	}
}

// call makes the answer call a tool, after a text: that of another directive, or else text.
func (p *plan) call(tool toolKind, argument, text string) {
	p.tool, p.argument = tool, argument
	if !p.said {
		p.text = text
	}
}

func parseLimits(argument string) (limits []float64) {
	for _, field := range strings.Fields(argument) {
		if used, err := strconv.ParseFloat(field, 64); err == nil {
			limits = append(limits, used)
		}
	}
	return limits
}

func parseUsage(argument string) usage {
	fields := strings.Fields(argument)
	u := defaultUsage
	if len(fields) != 2 && len(fields) != 5 {
		return u
	}
	for i, into := range []*int{&u.input, &u.output, &u.cached, &u.written, &u.reasoning}[:len(fields)] {
		n, err := strconv.Atoi(fields[i])
		if err != nil || n < 0 {
			return defaultUsage
		}
		*into = n
	}
	return u
}
