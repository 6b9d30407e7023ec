package opencode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
)

// oldName is the name of the log of one process, up to 1.15.4: the second, in UTC, in which
// it was created. A terminal interface has two.
const oldName = "2006-01-02T150405.log"

// sharedName is the log of all processes, since 1.17.11 at the latest.
const sharedName = "opencode.log"

// oldLine parses a line of such a log:
//
//	INFO  2026-11-21T21:48:07 +35ms service=session.prompt step=0 sessionID=ses_x loop
func oldLine(runs map[string]*run, line []byte) {
	rest := bytes.TrimLeft(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	rest = bytes.TrimLeft(rest, " ")
	word, rest, _ := bytes.Cut(rest, []byte(" "))
	at, err := time.ParseInLocation("2006-01-02T15:04:05", string(word), time.UTC)
	if err != nil {
		return // a continuation of the line before
	}
	r := runs[""]
	if r == nil {
		r = newRun("", at)
		runs[""] = r
	}
	r.seen(at)
	text := string(rest)
	switch {
	case strings.Contains(text, "service=bus type=permission."),
		strings.Contains(text, "service=permission ") && strings.HasSuffix(text, " asking"):
		r.oldAsk(text, at)
		return
	case strings.Contains(text, " service=default version="):
		if _, args, ok := strings.Cut(text, " args="); ok && r.args == "" {
			r.args = args
		}
		return
	}
	if !strings.Contains(text, "ses_") {
		return
	}
	r.oldMention(text, at)
}

// oldAsk parses a line about a permission. A request for a permission has two lines, of
// which the first names the permission (1.1 to 1.15), or the call (1.0):
//
//	… service=permission id=per_x permission=bash patterns=["touch x"] asking
//	… service=bus type=permission.asked publishing
//	… service=permission sessionID=ses_x messageID=msg_x toolCallID=call_x pattern=["touch x *"] asking
//	… service=bus type=permission.updated publishing
func (r *run) oldAsk(text string, at time.Time) {
	switch {
	case strings.HasSuffix(text, " asking"):
		a := ask{at: at}
		fields(text, func(key, value string) {
			switch key {
			case "permission":
				a.permission = cmp.Or(a.permission, value)
			case "toolCallID":
				a.call = cmp.Or(a.call, value)
			}
		})
		r.addAsk(a)
		r.named++
	case strings.Contains(text, "permission.asked"), strings.Contains(text, "permission.updated"):
		r.pending++
		if r.named > 0 {
			r.named--
		} else {
			r.addAsk(ask{at: at})
		}
	case strings.Contains(text, "permission.replied"):
		r.pending = max(0, r.pending-1)
	}
}

// oldMention records the sessions that the process runs. The log also names, in
// requests, the sessions that the process only shows; these are ignored.
func (r *run) oldMention(text string, at time.Time) {
	var service, session, subject, method, path string
	fields(text, func(key, value string) {
		switch key {
		case "service":
			service = cmp.Or(service, value)
		case "sessionID", "session.id":
			session = value
		case "id":
			subject = cmp.Or(subject, value)
		case "method":
			method = value
		case "path":
			path = value
		}
	})
	switch {
	case service == "session" && isSession(subject) && strings.HasSuffix(text, " created"):
		r.began(subject, at)
	case service == "server" && method == "POST":
		rest, ok := strings.CutPrefix(path, "/session/")
		id, action, _ := strings.Cut(rest, "/")
		if ok && isSession(id) && (action == "message" || action == "prompt_async" || action == "command" || action == "shell") {
			r.began(id, at)
		}
	case !isSession(session):
	case service == "session.prompt" && (strings.HasSuffix(text, "exiting loop") || strings.HasSuffix(text, " cancel")):
		r.ended(session, at)
	case service == "session.prompt", service == "llm", service == "session.processor":
		r.began(session, at)
	}
}

// ownLog returns the log in which a process names its sessions, the newest of the logs that it
// has open, and the path to read it by. A terminal interface also has an older log open, which
// names no sessions of this process, but perhaps those of another process: log names are
// precise to the second, and a process whose log exists already appends to it (1.14.41). Each
// start removes logs until ten are left, also those that other processes write (1.1.65): such a
// log is read through the descriptor of its process.
func (r *root) ownLog(h *host) (log, readable string) {
	newest := ""
	for _, f := range h.files {
		if name := filepath.Base(f); isOldLog(f) && name > newest {
			newest, readable = name, filepath.Join(r.logFolder(), name)
		}
	}
	for f, descriptor := range h.removed {
		if name := filepath.Base(f); isOldLog(f) && name > newest {
			newest, readable = name, descriptor
		}
	}
	if newest == "" {
		return "", ""
	}
	return filepath.Join(r.logFolder(), newest), readable
}

func isOldLog(path string) bool {
	_, ok := oldLogTime(filepath.Base(path))
	return ok && filepath.Base(filepath.Dir(path)) == "log"
}

// readOwn reads a log of the versions up to 1.14.41; nil for an empty one.
func (a *Adapter) readOwn(ctx context.Context, path string) (*run, error) {
	state, err := a.readLog(ctx, path, time.Time{}, oldLine)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, adapters.AsProblem(path, err)
	}
	return state.runs[""], nil
}

// join adds the facts from another log of the same process.
func (r *run) join(o *run) *run {
	if r == nil {
		return o.clone()
	}
	r.seen(o.first)
	r.seen(o.last)
	for id, m := range o.sessions {
		if m.at.After(r.sessions[id].at) {
			r.sessions[id] = m
		}
	}
	r.asks = append(r.asks, o.asks...)
	r.pending += o.pending
	r.args = cmp.Or(r.args, o.args)
	return r
}

func oldLogTime(name string) (time.Time, bool) {
	at, err := time.ParseInLocation(oldName, name, time.UTC)
	return at, err == nil
}

// begunLogs returns the logs that a process with unknown open files can have created:
// those whose names contain a time right after its start.
func (r *root) begunLogs(h *host) []string {
	entries, err := os.ReadDir(r.logFolder())
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries {
		at, ok := oldLogTime(e.Name())
		if ok && !at.Before(h.Started.Add(-2*time.Second)) && at.Before(h.Started.Add(startLimit)) {
			paths = append(paths, filepath.Join(r.logFolder(), e.Name()))
		}
	}
	return paths
}

// hasArgs compares a command line with the one in the first line of a log, which
// is JSON: args=["run","Say hello"].
func (h *host) hasArgs(logged string) bool {
	end := strings.LastIndexByte(logged, ']')
	if end < 0 || len(h.args) == 0 {
		return false
	}
	var args []string
	if json.Unmarshal([]byte(logged[:end+1]), &args) != nil {
		return false
	}
	return slices.Equal(args, h.args[1:])
}
