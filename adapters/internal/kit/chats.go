package kit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/bounded"
)

// Chat is a session's file as its folder shows it. The type of an adapter's files embeds it.
type Chat struct {
	Path string
	Home string // that the file is in
	Info fs.FileInfo
}

func (c *Chat) chat() *Chat { return c }

// File is a type that embeds Chat.
type File interface{ chat() *Chat }

// Changed returns when a file was written last.
func Changed(f File) time.Time { return f.chat().Info.ModTime() }

// Stat finds what a path is. ok is false for anything but a regular file; what can't be read is added to the answer.
func (a *Answer) Stat(home, path string) (chat Chat, ok, hidden bool) {
	info, err := os.Stat(path)
	if err == nil {
		err = agentfile.CheckRegular(info)
	}
	if err != nil {
		return chat, false, a.Failed(path, err)
	}
	return Chat{path, home, info}, true, false
}

// Failed adds the problem that a path could not be read, and reports whether that may hide sessions. What is gone hides nothing.
func (a *Answer) Failed(path string, err error) (hides bool) {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return false
	}
	a.Problem(adapters.AsProblem(path, err))
	return true
}

// Folders calls do for each folder in root, also through links, as long as there is time, and reports whether all were seen.
func (a *Answer) Folders(ctx context.Context, root string, do func(ctx context.Context, name string)) (all bool) {
	ctx, cancel := Part(ctx, 2)
	defer cancel()
	entries, err := agentfile.Entries(ctx, root)
	all = !a.Failed(root, err)
	unlisted := 0
	for _, e := range entries {
		switch {
		case !agentfile.MayBeFolder(root, e):
		case agentfile.Ended(ctx) != nil:
			unlisted++
		default:
			do(ctx, e.Name())
		}
	}
	a.Problem(NotListed(root, unlisted, len(entries)))
	return all && unlisted == 0
}

// isOneRecord reports whether the file at a path is one JSON value, and not one on each line.
func isOneRecord(path string) bool { return strings.HasSuffix(path, ".json") }

// ErrForm is wrapped by the error of a Gatherer's Line for a file of one record that has another form, or is being written.
var ErrForm = errors.New("not in the known form")

const (
	rewrites = 60                   // looks at a file that is being written
	rewrite  = 3 * time.Millisecond // between two of them
	written  = 2 * time.Second      // an older file isn't being written
	reread   = 16 << 20             // bytes of a file that is looked at again
)

// ReadWhole returns the bytes of a file that is one record. Agents write it in place: a new one that is not JSON is read again for a moment.
func ReadWhole(ctx context.Context, path string) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		data, info, err := agentfile.ReadSmall(path, agentfile.MaxLine)
		if err != nil || json.Valid(data) {
			return data, err
		}
		if attempt == rewrites || len(data) > reread || time.Since(info.ModTime()) > written {
			return nil, adapters.Unrecognised(path, "it is not complete, or not JSON")
		}
		if err := bounded.Wait(ctx, rewrite); err != nil {
			return nil, err
		}
	}
}

// ReadAll reads files, the ones written last first, as long as there is time, and calls take with each and its facts, in order. take reports
// whether the file is a session's. The answer gets what is skipped in it, and what is none or could not be read; hides is called with each of these files that a process may have.
func ReadAll[F File, T any, P Gatherer[T]](ctx context.Context, a *Answer, t *Transcripts[T, P], q adapters.Query, files []F, take func(F, T) bool, hides func(F)) {
	slices.SortFunc(files, func(x, y F) int {
		return cmp.Or(y.chat().Info.ModTime().Compare(x.chat().Info.ModTime()), strings.Compare(y.chat().Path, x.chat().Path))
	})
	part, cancel := ReadingTime(ctx, len(files))
	defer cancel()
	facts, errs := make([]T, len(files)), make([]error, len(files))
	agentfile.Parallel(len(files), func(i int) {
		c := files[i].chat()
		facts[i], errs[i] = t.Read(part, c.Path, c.Info, q.Once)
		if errors.Is(errs[i], ErrForm) {
			_, errs[i] = ReadWhole(part, c.Path)
			if errs[i] == nil {
				facts[i], errs[i] = t.Read(part, c.Path, c.Info, q.Once)
			}
		}
		if errors.Is(errs[i], ErrForm) {
			errs[i] = adapters.Unrecognised(c.Path, "%w", errs[i])
		}
	})
	known := 0
	strange := ""
	late := 0
	lateIn := ""
	for i, f := range files {
		if errs[i] == nil {
			a.SkipAll(P(&facts[i]).SkippedRecords())
		}
		switch c := f.chat(); {
		case adapters.IsOutOfTime(errs[i]):
			late, lateIn = late+1, c.Home
			hides(f)
		case errs[i] != nil:
			if a.LeaveOut(NotReadable, 1); a.Failed(c.Path, errs[i]) {
				hides(f)
			}
		case take(f, facts[i]):
			known++
		case c.Info.Size() > 0:
			a.LeaveOut(NotRecognised, 1)
			strange = c.Path
			hides(f)
		}
	}
	if strange != "" && known == 0 && len(q.IDs) == 0 {
		a.Problem(adapters.Unrecognised(strange, "it does not begin as a session does"))
	}
	a.NotRead(lateIn, "sessions", late, len(files))
}
