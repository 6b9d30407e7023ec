package focus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"rollcall/proc"
)

// editor is an installation of VS Code or of an editor that is based on it.
type editor struct {
	process proc.Identity // the outermost process of the editor
	nearest int           // index in the place's chain of its innermost process
	title   string        // "Visual Studio Code"
	name    string        // of that program: "code"
	command string        // path of the program that opens a folder
	data    string        // name of its folder of settings: "Code"
}

// product contains what Rollcall reads from an editor's product.json.
type product struct {
	NameLong        string `json:"nameLong"`
	NameShort       string `json:"nameShort"`
	ApplicationName string `json:"applicationName"`
}

var applicationName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,40}$`) })

// editorOf returns the editor whose terminal or extension started a place.
func (r *request) editorOf(p *Place) (e editor, ok bool) {
	for i, id := range p.chain()[1:] {
		exe, err := r.table.Exe(id)
		if err != nil {
			continue
		}
		if proc.CheckBoundary(id) != nil {
			continue
		}
		if found, is := editorIn(filepath.Dir(exe), exe); is && r.mayRun(&found) {
			found.process, found.nearest = id, i+1 // the outermost one has the windows
			if ok {
				found.nearest = e.nearest
			}
			e, ok = found, true
		}
	}
	return e, ok
}

// editorIn returns the editor that is installed in a folder. It reads the editor's names from product.json.
func editorIn(folder, exe string) (editor, bool) {
	resources := filepath.Join(folder, "resources", "app")
	if runtime.GOOS == "darwin" { // NAME.app/Contents/MacOS and Contents/Resources, or Frameworks/NAME Helper.app/…
		resources = filepath.Join(folder, "..", "Resources", "app")
	}
	text, err := readSmall(filepath.Join(resources, "product.json"), 1<<20)
	if err != nil {
		return editor{}, false
	}
	var p product
	if json.Unmarshal(text, &p) != nil || !applicationName().MatchString(p.ApplicationName) || !applicationName().MatchString(strings.ReplaceAll(p.NameShort, " ", "")) {
		return editor{}, false
	}
	e := editor{title: printable(p.NameLong), data: p.NameShort, name: p.ApplicationName, command: filepath.Join(folder, "bin", p.ApplicationName)}
	switch runtime.GOOS {
	case "darwin":
		e.command = filepath.Join(resources, "bin", p.ApplicationName)
	case "windows":
		e.command = exe // bin has only scripts of cmd
	}
	return e, true
}

// mayRun reports whether the program of an editor is not an agent's: only root can change it, or PATH leads to it, and it is outside of the
// folders of all sessions.
func (r *request) mayRun(e *editor) bool {
	command, err := filepath.EvalSymlinks(e.command)
	if err != nil || slices.ContainsFunc(append(slices.Clip(r.others), r.folder), func(folder string) bool { return isIn(folder, command) }) {
		return false
	}
	e.command = command
	if onlyRootWrites(command) {
		return true
	}
	inPath, err := exec.LookPath(e.name)
	if err != nil {
		return false
	}
	inPath, err = filepath.EvalSymlinks(inPath)
	if runtime.GOOS == "windows" { // bin has the script beside which command is
		inPath = filepath.Join(filepath.Dir(inPath), "..", filepath.Base(command))
	}
	return err == nil && inPath == command
}

// isIn reports whether a path without links is in a folder.
func isIn(folder, path string) bool {
	if folder == "" {
		return false
	}
	if target, err := filepath.EvalSymlinks(folder); err == nil {
		folder = target
	}
	inside, err := filepath.Rel(folder, path)
	return err != nil || inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator))
}

// readSmall reads a regular file of at most limit bytes.
func readSmall(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, errors.New("not a small file")
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// showEditor adds the step that raises the window of an editor that has the folder of a place open. It reports whether the place is in such an editor whose
// window is known by its folder. at is the index in the place's chain of the nearest process that has windows; below 0: none is known. A terminal that was
// started in the editor is not the editor's.
func (r *request) showEditor(p *Place, at int) bool {
	e, ok := r.editorOf(p)
	if !ok || at >= 0 && at < e.nearest {
		return false
	}
	folder := openFolder(e.storage(), r.folder)
	if folder == "" {
		return false
	}
	r.plan.Seen = true
	r.add(EditorStep, fmt.Sprintf("raise the window of %s with %s", e.title, folder), func(ctx context.Context) error {
		if err := proc.CheckBoundary(e.process); err != nil {
			return fmt.Errorf("the editor: %w", err)
		}
		if !r.mayRun(&e) {
			return errors.New("the editor's program was changed")
		}
		_, err := run(ctx, nil, e.command, folder)
		return err
	})
	return true
}

// storage returns the file in which an editor records the folders that its windows have open, or "" if the folder of its settings is not known.
func (e *editor) storage() string {
	base, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, e.data, "User", "globalStorage", "storage.json")
}

// openFolder returns the innermost folder that a window of an editor has open and that is folder or contains it, or "" if there is none. For a folder that no
// window has open the editor would open a new window (VS Code 1.60 and later).
func openFolder(storage, folder string) string {
	text, err := readSmall(storage, maxAnswer)
	if err != nil || !filepath.IsAbs(folder) {
		return ""
	}
	type window struct {
		Folder string `json:"folder"` // "file:///home/me/shop"
	}
	var state struct {
		Windows struct {
			Last window   `json:"lastActiveWindow"`
			Open []window `json:"openedWindows"`
		} `json:"windowsState"`
	}
	if json.Unmarshal(text, &state) != nil {
		return ""
	}
	best := ""
	for _, w := range append(state.Windows.Open, state.Windows.Last) {
		u, err := url.Parse(w.Folder)
		if err != nil || u.Scheme != "file" || u.Host != "" {
			continue
		}
		path := filepath.FromSlash(u.Path)
		if runtime.GOOS == "windows" {
			path = strings.TrimPrefix(path, `\`) // "\c:\shop"
		}
		path = filepath.Clean(path)
		inside, err := filepath.Rel(path, folder)
		if err != nil || !filepath.IsAbs(path) || inside == ".." || strings.HasPrefix(inside, ".."+string(filepath.Separator)) {
			continue
		}
		if len(path) > len(best) {
			best = path
		}
	}
	return best
}
