package pistore

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
)

// file is a session's file as the folder shows it.
type file struct {
	path, dir  string
	root       string
	label      string    // the id in the name: all of it, or its first 8 characters
	begun      time.Time // according to the name
	shortLabel bool      // label has only 8 characters, as in names of pi_agent_rust
	info       fs.FileInfo
}

// sessionName is "<time>_<id>", with the time's colons and dots as dashes.
var (
	sessionName = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)[-.](\d+)Z_(.+)$`)
	shortID     = regexp.MustCompile(`^[0-9a-f]{8}$`)
	wholeID     = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	randomID    = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`)
)

// list lists all roots: <folder of a working directory>/<session> and <session>. Folders and files may be symbolic links; no deeper folder is read, so loops of
// links don't matter.
func (d *discovery) list() {
	for _, root := range d.roots.Paths {
		all := d.answer.Folders(d.ctx, root, func(ctx context.Context, name string) {
			if !strings.HasSuffix(name, ".v2") && !strings.HasSuffix(name, ".blobs") { // indexes and attachments of pi_agent_rust
				dir := filepath.Join(root, name)
				d.unreadable = d.answer.Failed(dir, d.listFolder(ctx, root, dir)) || d.unreadable
			}
		})
		d.partial = d.partial || !all
		_ = d.listFolder(d.ctx, root, root) // that it can't be read was said
	}
}

// listFolder adds the files in a folder, or right in a root.
func (d *discovery) listFolder(ctx context.Context, root, dir string) error {
	entries, err := agentfile.Entries(ctx, dir)
	for _, e := range slices.Backward(entries) { // the names begin with a time
		d.hasRust = d.hasRust || e.Name() == indexName
		switch {
		case strings.HasSuffix(e.Name(), ".sqlite") && e.Name() != indexName && d.store.Name() == PiRust:
			d.hasRust = true
			d.answer.Skip("session of pi_agent_rust in SQLite, which is not read", 1)
		case !isSession(e.Name()):
		case agentfile.Ended(ctx) != nil:
			d.partial = true
			d.isLate(root, 1, 1)
		default:
			d.addFile(root, dir, e.Name())
		}
	}
	return err
}

// addFile adds a file, or the problem of one of the agent that can't be examined.
func (d *discovery) addFile(root, dir, name string) {
	f, err := statFile(root, dir, name)
	if err != nil {
		if f.guess() == d.store.Name() {
			d.answer.Failed(f.path, err)
		}
		return
	}
	d.files = append(d.files, f)
	d.hasRust = d.hasRust || f.shortLabel
}

// isLate notes that late of n files below root were not examined or read in time.
func (d *discovery) isLate(root string, late, n int) {
	d.late, d.found = d.late+late, d.found+n
	if late > 0 {
		d.lateIn = root
	}
}

// indexName is the name of the index that pi_agent_rust makes.
const indexName = "session-index.sqlite"

// isSession reports whether a file is one of a session.
func isSession(name string) bool { return strings.HasSuffix(name, ".jsonl") }

// statFile examines a file. The error is agentfile.ErrNotRegular for anything but a
// regular file.
func statFile(root, dir, name string) (file, error) {
	f := file{path: filepath.Join(dir, name), dir: dir, root: root}
	if m := sessionName.FindStringSubmatch(strings.TrimSuffix(name, ".jsonl")); m != nil {
		f.label, f.shortLabel = m[3], shortID.MatchString(m[3])
		f.begun, _ = time.Parse("2006-01-02T15-04-05.999999999", m[1]+"."+m[2])
	}
	var err error
	f.info, err = os.Stat(f.path)
	if err == nil {
		err = agentfile.CheckRegular(f.info)
	}
	return f, err
}

// mayHaveID reports whether the file can be that of a session with this id. 0.27.9 names a file by another random id than that of its header; later versions do
// not, and make no such ids.
func (f *file) mayHaveID(id string) bool {
	return f.label == "" || f.label == id || f.shortLabel && strings.HasPrefix(id, f.label) || randomID.MatchString(f.label)
}

// folderName returns the name of the folder for a working directory.
func folderName(cwd string) string {
	return "--" + toName.Replace(strings.TrimLeft(cwd, `/\`)) + "--"
}

var toName = strings.NewReplacer("/", "-", `\`, "-", ":", "-")
