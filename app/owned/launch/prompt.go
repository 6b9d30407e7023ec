package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"rollcall/app/store"
	"rollcall/bounded"
	"rollcall/proc"
)

// maxPrompt is far above the length that agents accept.
const maxPrompt = 4 << 20

var errPromptTooLong = errors.New("the prompt is longer than 4 MB")

// ReadPrompt reads a prompt to its end. It fails if the prompt is longer than 4 MB. It returns when ctx is done even if r
// blocks.
func ReadPrompt(ctx context.Context, r io.Reader) (string, error) {
	return readPrompt(ctx, func() (io.ReadCloser, error) { return io.NopCloser(r), nil })
}

func readPrompt(ctx context.Context, open func() (io.ReadCloser, error)) (string, error) {
	text, err := readAll(ctx, open, maxPrompt)
	if err == nil && len(text) > maxPrompt {
		err = errPromptTooLong
	}
	return text, err
}

// readAll reads at most limit+1 bytes from what open returns. It returns when ctx is done even if open or a read blocks, since
// neither can be cancelled for a terminal or a pipe.
func readAll(ctx context.Context, open func() (io.ReadCloser, error), limit int64) (string, error) {
	return bounded.Within(ctx, math.MaxInt64, func() (string, error) {
		r, err := open()
		if err != nil {
			return "", err
		}
		defer func() { _ = r.Close() }()
		text, err := io.ReadAll(io.LimitReader(r, limit+1))
		return string(text), err
	})
}

// ReadPromptFile reads a prompt from a regular file. With pipes the file may also be a descriptor of this process, such as /dev/stdin or
// <(command) of a shell, which can be read only once.
func ReadPromptFile(ctx context.Context, path string, pipes bool) (string, error) {
	text, err := readPrompt(ctx, fileAt(path, pipes))
	var named *fs.PathError
	if err != nil && !errors.As(err, &named) && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return text, err
}

// fileAt returns a function that opens a file. For pipes see ReadPromptFile.
func fileAt(path string, pipes bool) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		if !pipes || !isDescriptor(path) {
			if _, err := regularFile(path); err != nil {
				return nil, err
			}
		}
		return os.Open(path)
	}
}

// promptShown is the number of characters of a prompt that a record keeps.
const promptShown = 200

// promptHead returns the first promptShown characters of a prompt. It replaces invalid UTF-8, as the JSON encoder does.
func promptHead(prompt string) string {
	n := 0
	for i := range prompt {
		if n == promptShown {
			prompt = prompt[:i]
			break
		}
		n++
	}
	return strings.ToValidUTF8(prompt, "\uFFFD")
}

// promptFile returns the path of the file with the whole prompt. It is kept for the hooks until they have run.
func (l *Launches) promptFile(id string) string { return filepath.Join(l.logs, id+".prompt") }

// keepPrompt makes the folder of the logs. If the plan has hooks, it writes the whole prompt into that folder, readable by
// the user alone.
func (l *Launches) keepPrompt(id string, p *Plan) error {
	logs, err := store.MakeDir(l.state, filepath.Base(l.logs))
	if err != nil {
		return err
	}
	logs.Close()
	if p.Request.Task.Prompt == "" || len(p.Request.Hooks) == 0 {
		return nil
	}
	return l.writeNew(l.promptFile(id), p.Request.Task.Prompt)
}

// writeNew writes a file in the folder of the logs, which is checked, for the user alone. The file must not exist.
func (l *Launches) writeNew(path, text string) error {
	return l.inLogs(func(d *store.Dir) error { return d.WriteNew(filepath.Base(path), []byte(text), 0o600) })
}

// MaxFile is the largest size of the spec and of each context file.
const MaxFile = 50 << 10

// compose returns the prompt followed by the spec and the context files.
func compose(req *Request) (string, error) {
	var b strings.Builder
	b.WriteString(req.Task.Prompt)
	add := func(what, path string) error {
		text, err := readText(path)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		fmt.Fprintf(&b, "\n\n--- %s: %s ---\n%s", what, filepath.Base(path), text)
		return nil
	}
	if req.Spec != "" {
		if err := add("spec", req.Spec); err != nil {
			return "", err
		}
	}
	for _, f := range req.Files {
		if err := add("file", f); err != nil {
			return "", err
		}
	}
	if b.Len() > maxPrompt {
		return "", errPromptTooLong
	}
	if strings.ContainsRune(b.String(), 0) {
		return "", errors.New("the prompt contains a NUL byte; add only text files")
	}
	return b.String(), nil
}

// isDescriptor reports whether a path names an open file of this process.
func isDescriptor(path string) bool {
	path = filepath.Clean(path)
	dir := filepath.Dir(path)
	return path == "/dev/stdin" || dir == "/dev/fd" || dir == "/proc/self/fd"
}

// regularFile returns an error for anything but a regular file, since opening a pipe may block forever.
func regularFile(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		return info, err
	}
	kind := "a device"
	switch mode := info.Mode(); {
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return nil, &fs.PathError{Op: "cannot read", Path: path, Err: fmt.Errorf("it is %s, not a regular file", kind)}
}

func readText(path string) (string, error) {
	info, err := regularFile(path)
	if err != nil {
		return "", err
	}
	if info.Size() > MaxFile {
		return "", fmt.Errorf("%s has %d bytes; at most %d (50 KB) are allowed", path, info.Size(), MaxFile)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// secretFile returns the path of the file with the password of a launch's process. It is removed with the process.
func (l *Launches) secretFile(id string) string { return filepath.Join(l.logs, id+".key") }

// keepSecret writes the password of a plan, if it has one, to a file that only the user can read, and notes it in the
// record.
func (l *Launches) keepSecret(r *Record, p *Plan) error {
	secret := p.Command.Secret
	if secret.IsZero() {
		return nil
	}
	r.Password = true
	return l.writeNew(l.secretFile(r.ID), secret.Value)
}

// maxSecret is far above the length of a password.
const maxSecret = 1 << 10

// Password returns the password with which Rollcall launched a process, or an empty string. The process must belong to a
// launch that has not ended. A password that can't be read counts as none; the process then refuses all requests.
func (l *Launches) Password(process proc.Identity) string {
	for _, r := range l.readable() {
		if !r.Password || r.Ended() || r.Foreign() || r.Process != process && !l.member(&r, process) {
			continue
		}
		var value string
		_ = l.inLogs(func(d *store.Dir) error {
			text, _, err := d.Read(filepath.Base(l.secretFile(r.ID)), maxSecret)
			value = strings.TrimSpace(string(text))
			return err
		})
		return value
	}
	return ""
}
