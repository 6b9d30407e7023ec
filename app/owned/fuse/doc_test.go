package fuse

import (
	"maps"
	"slices"
	"testing"

	"rollcall/internal/doctest"
)

func TestDocumented(t *testing.T) {
	const file = "json.md"
	doctest.SameKeys(t, file, "fuse.fired", payload{})
	doctest.SameSet(t, file, "Scripts of fuses", doctest.First(doctest.Rows(t, file, "Scripts of fuses")), slices.Collect(maps.Keys(scriptEnv(&Fuse{}))))
}
