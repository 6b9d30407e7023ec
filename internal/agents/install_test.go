package agents

import (
	"encoding/json"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// Every package that npm would install is pinned by version and hash, and comes
// from whatever registry the machine is set up with.
func TestLocksPinEveryPackage(t *testing.T) {
	for _, release := range append(Releases(), Node) {
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
				} `json:"packages"`
			}
			for name, into := range map[string]any{"package.json": &manifest, "package-lock.json": &lock} {
				data, err := locks.ReadFile("locks/" + release.lock + "/" + name)
				must.Do(t, err)
				if err := json.Unmarshal(data, into); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			wanted := manifest.Dependencies
			if release == Node {
				wanted = manifest.OptionalDependencies
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
				if name == "" || p.InBundle {
					continue
				}
				if !strings.HasPrefix(p.Integrity, "sha512-") || p.Resolved != "" {
					t.Errorf("%s: integrity %q, resolved %q", name, p.Integrity, p.Resolved)
				}
			}
		})
	}
}
