//go:build unix

package sqlitero

import (
	"io/fs"
	"os"

	"rollcall/adapters/internal/agentfile"
)

type fileID = agentfile.ID

func idOf(_ *os.File, fi fs.FileInfo) fileID { return agentfile.IDOf(fi) }
