package claudecode

import (
	"fmt"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// StatusLine implements adapters.StatusLiner. Claude Code writes one JSON object to its status line's command; rate_limits is in it after the first
// answer, with a subscription alone (documented for 2.1.80 and later: https://code.claude.com/docs/en/statusline).
func (a *Adapter) StatusLine(input []byte) (adapters.StatusLine, error) {
	var path, folder, model, windows []byte
	err := agentfile.Members(input, agentfile.Into("transcript_path", &path), agentfile.Into("cwd", &folder), agentfile.Into("model", &model),
		agentfile.Into("rate_limits", &windows))
	if err != nil || path == nil {
		return adapters.StatusLine{}, fmt.Errorf("Claude Code: %w", adapters.ErrNotStatusLine) //nolint:staticcheck // it is a name
	}
	line := adapters.StatusLine{Model: agentfile.String(agentfile.Get(model, "display_name")), Folder: agentfile.String(folder)}
	home := homeOfTranscript(agentfile.String(path), a.configDir())
	_ = agentfile.Top(windows, func(key, raw []byte) bool { // Members has checked the object
		if limit, ok := toldLimit(string(key), raw); ok {
			limit.Home, limit.At = home, a.now()
			line.Limits = append(line.Limits, limit)
		}
		return len(line.Limits) < maxWindows
	})
	return line, nil
}

// homeOfTranscript returns the home of a transcript, which is in projects/FOLDER there.
func homeOfTranscript(path, other string) string {
	projects := filepath.Dir(filepath.Dir(path))
	if filepath.IsAbs(path) && filepath.Base(projects) == "projects" {
		other = filepath.Dir(projects)
	}
	return realPath(other)
}

// toldLimit returns a window of rate_limits: its share in per cent, and the second of its reset.
func toldLimit(name string, raw []byte) (limit adapters.Limit, ok bool) {
	limit.Used, ok = agentfile.Float(agentfile.Get(raw, "used_percentage"))
	if !ok || limit.Used < 0 || limit.Used >= 200 {
		return limit, false
	}
	limit.Used = min(limit.Used, 100)
	limit.Window, limit.Name = window(name)
	if reset, ok := agentfile.Int(agentfile.Get(raw, "resets_at")); ok && reset > 0 && reset < maxReset {
		limit.ResetsAt = time.Unix(reset, 0)
	}
	return limit, limit.Window != 0 || limit.Name != ""
}
