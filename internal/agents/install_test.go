package agents

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// Every package that npm would install is pinned by version and hash, and comes
// from whatever registry the machine is set up with.
func TestLocksPinEveryPackage(t *testing.T) {
	for _, release := range append(Releases(), Nanocoder, Node) {
		t.Run(release.String(), func(t *testing.T) {
			var manifest struct {
				Dependencies         map[string]string `json:"dependencies"`
				OptionalDependencies map[string]string `json:"optionalDependencies"` // one for each architecture
			}
			var lock struct {
				Packages map[string]struct {
					Version   string `json:"version"`
					Integrity string `json:"integrity"`
					Resolved  string `json:"resolved"`
					InBundle  bool   `json:"inBundle"` // comes inside of the package that needs it

					Optional bool            `json:"optional"`
					OS       json.RawMessage `json:"os"`
					CPU      json.RawMessage `json:"cpu"`
				} `json:"packages"`
			}
			for name, into := range map[string]any{"package.json": &manifest, "package-lock.json": &lock} {
				data := must.Get(locks.ReadFile("locks/" + release.lock + "/" + name))(t)
				if err := json.Unmarshal(data, into); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			wanted := manifest.Dependencies
			if release == Node {
				wanted = manifest.OptionalDependencies
			}
			if release.runner != "" {
				runner := filepath.Base(release.runner)
				if got := lock.Packages["node_modules/"+runner].Version; got != wanted[runner] {
					t.Errorf("%s is %s, locked %s", runner, wanted[runner], got)
				}
				delete(wanted, runner)
			}
			if len(wanted) != 1 && release != Node || len(wanted) == 0 {
				t.Fatalf("dependencies: %v", wanted)
			}
			for name, version := range wanted {
				if version != release.Version || lock.Packages["node_modules/"+name].Version != release.Version {
					t.Errorf("%s is %s, locked %s, want %s", name, version, lock.Packages["node_modules/"+name].Version, release.Version)
				}
			}
			for name, p := range lock.Packages {
				isElsewhere := p.Optional && (!strings.Contains(string(p.OS), "linux") || !strings.Contains(string(p.CPU), "x64"))
				if name == "" || p.InBundle || release == GrokNewest && isElsewhere { // CI runs it on linux-x64, whose package alone could be hashed
					continue
				}
				if !strings.HasPrefix(p.Integrity, "sha512-") || p.Resolved != "" {
					t.Errorf("%s: integrity %q, resolved %q", name, p.Integrity, p.Resolved)
				}
			}
		})
	}
}
