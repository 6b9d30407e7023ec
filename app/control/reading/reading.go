// Package reading decides which requests one key allows: those that read files of the session's folder and do nothing else.
//
// The rule completes no list of what is dangerous. A command is reading if its text is one simple command of plain words, which every known shell reads
// in the same way, its program is in a short table, and each of its words is an option of that table or a file that is looked at. Everything else is not
// reading, whatever it does. The oracle internal/onekey runs such commands under a tracer.
package reading

import (
	"context"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/bounded"
)

// Place is where a session works.
type Place struct {
	Folder string   // of the session
	Env    []string // of the agent's process, which its commands inherit; nil: not known
}

// lookLimit is how long the files of a request may take to be looked at.
const lookLimit = 2 * time.Second

// Is reports whether a request reads files of the session's folder and does nothing else. It looks at the files that the request names, and returns false if
// that takes longer than two seconds.
func Is(r *adapters.Request, at Place) bool {
	canRead := r.Kind == adapters.AsksCommand || r.Kind == adapters.AsksPermission
	if runtime.GOOS == "windows" || !canRead || !IsAll(r) {
		return false
	}
	copied := *r
	ok, err := bounded.In(at.Folder, lookLimit, func(ctx context.Context) (bool, error) {
		f, known := newFolder(ctx, at.Folder, copied.Folder)
		if !known {
			return false, nil
		}
		shell, known := shellOf(at.Env, f)
		if !known {
			return false, nil
		}
		if copied.Kind == adapters.AsksCommand {
			return f.command(copied.Text, shell), nil
		}
		return f.tool(copied.Text), nil
	})
	return err == nil && ok
}

// IsAll reports whether the text of a request is all that it does: it changes no environment, has no further members, and runs on this machine. A gateway
// names another one in the reason of a request.
func IsAll(r *adapters.Request) bool {
	more := len(r.Details) + len(r.Unknown) + len(r.Questions)
	return more == 0 && !strings.HasPrefix(r.Reason, "runs on ")
}

// plainCommand is one simple command of words that every known shell takes as they are written. A word that begins with "=" is a path in zsh.
var plainCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9]+( [A-Za-z0-9_./:@%+,-][A-Za-z0-9_./=:@%+,-]*)*$`)
})

// maxCommand is far above the length of a command that a person reads at a glance.
const maxCommand = 1000

// command reports whether a command only reads.
func (f *folder) command(text, shell string) bool {
	if len(text) > maxCommand || strings.Contains(text, "..") || !plainCommand().MatchString(text) {
		return false
	}
	words := strings.Split(text, " ")
	for n := min(3, len(words)); n > 0; n-- {
		if r, ok := readers[strings.Join(words[:n], " ")]; ok {
			return !slices.Contains(r.notIn, shell) && (!r.git || f.isPlainRepository()) && r.takes(f, words[n:])
		}
	}
	return false
}

// takes reports whether the words after a program's name are options of its list, and files that it may read.
func (r *reader) takes(f *folder, words []string) bool {
	operands := 0
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case strings.HasPrefix(w, "-") && slices.Contains(r.numbers, w) && i+1 < len(words) && isNumber(words[i+1]):
			i++
		case strings.HasPrefix(w, "-"):
			if !slices.Contains(r.options, w) {
				return false
			}
		case r.pattern && operands == 0:
			if operands++; strings.HasPrefix(w, ".") || strings.Contains(w, "/") { // it is no file, whatever a setting of the program makes of it
				return false
			}
		default:
			if operands++; operands > r.most || !f.mayRead(w, r.reads) {
				return false
			}
		}
	}
	return operands >= r.least
}

func isNumber(word string) bool {
	return len(word) < 7 && strings.Trim(word, "0123456789") == ""
}
