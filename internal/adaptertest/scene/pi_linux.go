package scene

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// pi plays Pi 1.5.2, or pi_agent_rust, which shares its store.
type pi struct {
	*Environment
	rust bool
}

// Pi plays Pi 1.5.2: transcripts that no process holds open, and processes that
// have erased their arguments.
func Pi(w *Environment) Agent { return pi{Environment: w} }

// PiRust plays pi_agent_rust: the same folders, files that are replaced as a
// whole, and a native process.
func PiRust(w *Environment) Agent { return pi{Environment: w, rust: true} }

func (p pi) Name() adapters.Name {
	if p.rust {
		return agentname.PiRust
	}
	return agentname.Pi
}

func (p pi) Store() string { return p.Path(".pi") }
func (p pi) Install()      { p.check(os.MkdirAll(p.Path(".pi", "agent", "sessions"), 0o755)) }

// piState is the last entry.
type piState struct {
	last string
	text strings.Builder // the whole file, for pi_agent_rust
}

func (p pi) Start(cwd, prompt string) *Session {
	p.Install()
	version := 7
	if p.rust {
		version = 4
	}
	s := newSession(p.Name(), p, p.uuid(version), cwd)
	s.state = &piState{}
	s.Process = p.run(s, time.Second)
	name := s.ID
	if p.rust {
		name = s.ID[:8]
	}
	folder := "--" + strings.NewReplacer("/", "-", ":", "-").Replace(strings.TrimPrefix(cwd, "/")) + "--"
	at := stamp()
	s.File = p.Path(".pi", "agent", "sessions", folder, strings.NewReplacer(":", "-", ".", "-").Replace(at)+"_"+name+".jsonl")
	more := ""
	if p.rust {
		more = `,"provider":"mock","modelId":"mock-1","thinkingLevel":"off"`
	}
	p.add(s, fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":%q,"cwd":%q%s}`, s.ID, at, cwd, more))
	p.entry(s, `"type":"model_change"`, `"provider":"mock","modelId":"mock-1"`)
	if !p.rust {
		p.entry(s, `"type":"message"`, `"message":{"role":"system","content":"","sections":{"preamble":"x"}}`)
	}
	p.prompt(s, prompt)
	return s
}

func (p pi) run(s *Session, ago time.Duration) proc.Identity {
	spec := Spec{Comm: "pi", Exe: NodeProgram, CWD: s.CWD, Args: []string{"pi", "", "", ""},
		Env: []string{"HOME=" + p.Home}, Started: time.Now().Add(-ago)}
	if p.rust {
		spec.Exe, spec.Args = PiProgram, []string{"pi"}
	}
	return p.Procs.Start(spec)
}

// add appends a line; pi_agent_rust writes the whole file again and renames it.
func (p pi) add(s *Session, line string) {
	if !p.rust {
		if run := p.Procs.run; run != nil {
			p.check(os.MkdirAll(filepath.Dir(s.File), 0o755))
			run.Append(s.Process.PID, s.File, line)
			return
		}
		p.Append(s.File, line)
		return
	}
	st := s.state.(*piState)
	st.text.WriteString(line + "\n")
	temporary := filepath.Join(filepath.Dir(s.File), ".tmp"+s.ID[:6])
	if run := p.Procs.run; run != nil {
		p.check(os.MkdirAll(filepath.Dir(s.File), 0o755))
		run.Write(s.Process.PID, temporary, st.text.String())
	} else {
		p.Write(temporary, st.text.String())
	}
	p.check(os.Rename(temporary, s.File))
}

// entry appends one to the branch.
func (p pi) entry(s *Session, kind, more string) {
	st := s.state.(*piState)
	parent := "null"
	if st.last != "" {
		parent = `"` + st.last + `"`
	}
	st.last = fmt.Sprintf("%08x", p.rng.Uint32())
	p.add(s, fmt.Sprintf(`{%s,"id":%q,"parentId":%s,"timestamp":%q,%s}`, kind, st.last, parent, stamp(), more))
}

func (p pi) prompt(s *Session, text string) {
	quoted, _ := json.Marshal(text)
	p.entry(s, `"type":"message"`, fmt.Sprintf(`"message":{"role":"user","content":[{"type":"text","text":%s}],"timestamp":%d}`, quoted, time.Now().UnixMilli()))
}

func (p pi) answer(s *Session, text string) {
	quoted, _ := json.Marshal(text)
	p.entry(s, `"type":"message"`, fmt.Sprintf(`"message":{"role":"assistant","content":[{"type":"text","text":%s}],"api":"openai-completions","provider":"mock","model":"mock-1","usage":{"input":220,"output":34,"cacheRead":1000,"cacheWrite":0,"totalTokens":1254,"cost":{"input":0.00066,"output":0.00051,"cacheRead":0.0003,"cacheWrite":0,"total":0.00147}},"stopReason":"stop","timestamp":%d}`,
		quoted, time.Now().UnixMilli()))
}

func (p pi) exit(s *Session) { p.Procs.End(s.Process.PID) }
func (p pi) kill(s *Session) { p.Procs.End(s.Process.PID) }

// resume has a process begin after what was stored before, and before the prompt,
// by more than the ticks in which its start is kept.
func (p pi) resume(s *Session, prompt string) {
	const apart = 30 * time.Millisecond
	<-time.After(2 * apart)
	s.Process = p.run(s, apart)
	if run := p.Procs.run; run != nil && !p.rust { // without a connection it would not be the process that works
		run.Connect(s.Process.PID)
	}
	p.prompt(s, prompt)
}

func (p pi) forget(s *Session) { p.check(os.Remove(s.File)) }

func (p pi) strange(s *Session) { p.entry(s, `"type":"moonshine"`, `"of":["the","moon"]`) }
