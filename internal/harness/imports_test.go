package harness

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// TestOracleIsFromOutside: what says how it is shares no rule with what is tested. It imports no adapter and nothing of their kit, and what reads a
// screen imports nothing of Rollcall's at all.
func TestOracleIsFromOutside(t *testing.T) {
	for pattern, forbidden := range map[string]string{"oracle*.go": "rollcall/adapters/", "real*.go": "rollcall/adapters/", "screen/screen.go": "rollcall/"} {
		files, err := filepath.Glob(pattern)
		must.Do(t, err)
		if len(files) == 0 {
			t.Errorf("no %s", pattern)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			must.Do(t, err)
			for _, spec := range file.Imports {
				if name, _ := strconv.Unquote(spec.Path.Value); strings.HasPrefix(name, forbidden) {
					t.Errorf("%s imports %s", path, name)
				}
			}
		}
	}
}
