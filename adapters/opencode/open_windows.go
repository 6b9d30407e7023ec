package opencode

import (
	"os"

	"rollcall/adapters/internal/shared"
)

func openFile(path string) (*os.File, error) { return shared.Open(path) }
