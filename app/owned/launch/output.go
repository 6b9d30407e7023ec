package launch

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"rollcall/adapters"
	"rollcall/app/store"
	"rollcall/bounded"
	"rollcall/proc"
)

// Outputs returns the files with the output of an agent's background launches on this machine.
func (l *Launches) Outputs(agent adapters.Name) []adapters.Output {
	var list []adapters.Output
	for _, r := range l.readable() {
		if r.Agent == agent && r.Log != "" && !proc.IsElsewhere(r.Host, r.Space) {
			list = append(list, adapters.Output{Path: l.logFile(r.ID), Home: r.Home})
		}
	}
	return list
}

// Output returns the last n bytes of the agent's output.
func (l *Launches) Output(id string, n int64) (string, error) {
	return bounded.In(l.logs, bounded.ReadLimit, func(context.Context) (string, error) {
		d, err := store.OpenDir(l.state, filepath.Base(l.logs))
		if err != nil {
			return "", err
		}
		defer d.Close()
		f, info, err := d.Open(id + ".log")
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }()
		text, err := tail(f, info, n)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", l.logFile(id), err)
		}
		errors, info, err := d.Open(filepath.Base(l.errorsFile(id)))
		if err != nil {
			return text, nil // there is no such file unless the launch has a pipe
		}
		defer func() { _ = errors.Close() }()
		last, err := tail(errors, info, n)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", l.errorsFile(id), err)
		}
		text += last
		return text[max(int64(len(text))-n, 0):], nil
	})
}

// tail returns the last n bytes of a file.
func tail(f io.ReaderAt, info fs.FileInfo, n int64) (string, error) {
	text := make([]byte, min(n, info.Size()))
	read, err := f.ReadAt(text, max(info.Size()-n, 0))
	if err != nil && read == 0 && len(text) > 0 {
		return "", err
	}
	return string(text[:read]), nil
}
