package agents

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// A plot is the life of one agent: words on where it runs, then steps. A step
// with an exclamation mark is followed by the next one at once.

// claudePlots have what only Claude Code does.
var claudePlots = []string{
	"open long esc ctrlc", "open short long esc ctrld", "open long esc close", "open long! esc! ctrlc",
	"open dialog exit", "open short dialog exit", "open wait! kill", "open tool esc exit",
	"own open short long kill", "own open wait answer exit", "own runlong kill", "shared open short kill", "shared open exit",
	"open wait refuse ctrlc", "open ask answer exit", "open long stop kill",
}

// codexPlots have what only Codex does.
var codexPlots = []string{
	"open exit", "open slow close await", "open short close", "open wait answer ctrld", "open long esc exit", "open long close",
	"alone open long kill! resume! exit", "alone open short exit", "alone open long stop cont esc exit", "alone open ctrlc",
	"own alone open short kill", "own open long killdaemon", "ephemeral runlong kill", "ephemeral run", "runlong int",
	"shared open short exit", "open fail exit", "open long stop cont esc ctrlc",
}

// codexOlderPlots are for a Codex without a daemon.
var codexOlderPlots = []string{
	"open exit", "open long kill! resume! exit", "open wait answer ctrld", "open long esc exit", "open long stop cont esc exit",
	"own open short kill", "runlong int", "shared open short exit", "open fail exit",
}

var openCodePlots = []string{
	"open exit", "open long kill resume exit", "open long kill resume close", "open wait answer exit", "open ask answer ctrlc",
	"own open short long kill", "own open wait answer exit", "open long stop cont esc exit", "open tool kill", "runlong term",
	"shared open short exit", "shared open short kill resume exit", "shared open tool kill", "open wait! kill", "open fail exit",
	"open wait refuse exit",
}

var piPlots = []string{
	"open exit", "run run", "shared open short long kill", "shared open short exit", "shared open short new short exit",
	"open short new exit", "shared run", "own open short kill", "own runlong kill", "open long esc exit", "open short long stop cont kill",
	"open short long kill resume exit", "open fail exit", "shared open close", "open short tool term",
}

// commonPlots are for every agent with a terminal.
var commonPlots = []string{
	"open short exit", "open short long kill", "open short long close", "open short long term", "run rerun",
	"open long kill resume short exit", "open short long kill resumelong kill", "runlong kill rerunlong kill", "open short stop cont exit",
	"open long stop cont kill", "open short kill resume exit", "open medium ctrlc", "shared open short long kill",
}

// waitPlots are for those that ask their user.
var waitPlots = []string{"open wait stop cont answer exit", "open wait kill", "open short wait close", "shared open wait answer exit"}

// plotsOf are the plots of each release beside the common ones.
var plotsOf = map[Release][]string{
	ClaudeNewest: claudePlots, CodexNewest: codexPlots, CodexOlder: codexOlderPlots,
	OpenCodeNewest: openCodePlots, OpenCodeOlder: openCodePlots, PiNewest: piPlots, PiOlder: piPlots,
}

// deck are the plots that a lane goes through first, in an order of its own.
func deck(rng *rand.Rand, k *stormKind, r Release) []string {
	if k.comm == "" {
		return []string{"gateway short long abort fail", "gateway long"}
	}
	plots := slices.Clone(commonPlots)
	if k.permission != nil {
		plots = append(plots, waitPlots...)
	}
	if r == CodexNewest { // a daemon goes on where these want an end
		for i := range plots {
			plots[i] = "alone " + plots[i]
		}
	}
	plots = append(plots, plotsOf[r]...)
	rng.Shuffle(len(plots), func(i, j int) { plots[i], plots[j] = plots[j], plots[i] })
	return plots
}

// walk draws a plot at random.
func walk(rng *rand.Rand, k *stormKind, r Release) string {
	if k.comm == "" {
		return pick(rng, "gateway short long abort", "gateway medium fail", "gateway short")
	}
	var words []string
	words = append(words, pick(rng, "", "", "", "shared", "own"))
	if r == CodexNewest {
		words = append(words, pick(rng, "", "alone"))
	}
	w := &walker{rng: rng, kind: k, daemon: r == CodexNewest && !slices.Contains(words, "alone"), state: "ended"}
	first := pick(rng, "open", "open", "open", "runlong", "run")
	words = append(words, w.take(first))
	for range 3 + rng.IntN(5) {
		words = append(words, w.take(w.next()))
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

func pick(rng *rand.Rand, from ...string) string { return from[rng.IntN(len(from))] }

// walker draws steps that can be taken one after the other.
type walker struct {
	rng    *rand.Rand
	kind   *stormKind
	daemon bool
	state  string // fresh, idle, working, waiting, ended, gone: with a terminal; headless: without
	before string // the state that a suspended agent was in
}

// next draws a step that can be taken now.
func (w *walker) next() string {
	switch w.state {
	case "fresh", "idle":
		steps := []string{"short", "short", "long", "long", "medium", "fail", "exit", "ctrlc", "ctrld", "kill", "close", "stop"}
		if w.kind.permission != nil {
			steps = append(steps, "wait", "wait")
		}
		if w.kind.question != nil {
			steps = append(steps, "ask")
		}
		if w.kind.tool {
			steps = append(steps, "tool")
		}
		if w.kind.dialog != "" {
			steps = append(steps, "dialog")
		}
		if w.kind.newCommand != "" && w.state == "idle" {
			steps = append(steps, "new")
		}
		return pick(w.rng, steps...)
	case "working":
		return pick(w.rng, "esc", "esc", "stop", "kill", "term", "close")
	case "waiting":
		if w.daemon {
			return pick(w.rng, "answer", "refuse", "stop")
		}
		return pick(w.rng, "answer", "answer", "refuse", "stop", "kill", "close", "term")
	case "suspended":
		if w.daemon {
			return "cont"
		}
		return pick(w.rng, "cont", "cont", "kill")
	case "headless":
		return pick(w.rng, "kill", "term", "int", "stop")
	case "ended":
		return pick(w.rng, "resume", "resumelong", "rerun", "rerunlong")
	}
	return ""
}

// take returns the step and goes on to the state after it.
func (w *walker) take(step string) string {
	state := w.state
	switch step {
	case "":
		return ""
	case "open", "new":
		w.state = "fresh"
	case "resume", "short", "medium", "fail", "answer", "refuse", "esc", "dialog":
		w.state = "idle"
	case "long", "tool", "resumelong":
		w.state = "working"
	case "wait", "ask":
		w.state = "waiting"
	case "runlong", "rerunlong":
		w.state = "headless"
	case "stop":
		w.state, w.before = "suspended", state
	case "cont":
		w.state = w.before
	default:
		w.state = "ended"
		if w.daemon && state != "headless" || state == "fresh" || state == "suspended" && w.before == "fresh" {
			w.state = "gone" // nothing to take up, or the daemon goes on
		}
	}
	if w.rng.IntN(8) == 0 {
		return step + "!"
	}
	return step
}
