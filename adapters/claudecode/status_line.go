package claudecode

import (
	"fmt"
	"path/filepath"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
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
		used, isShare := agentfile.Float(agentfile.Get(raw, "used_percentage"))
		if limit, ok := limitOf(string(key), used, isShare, agentfile.Get(raw, "resets_at")); ok {
			limit.Home, limit.At = home, a.Now()
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
	return agentproc.RealPath(other)
}
