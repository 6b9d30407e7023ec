package instance

import (
	"fmt"
	"os"
)

// private checks only that dir is a folder: what lies in %LOCALAPPDATA% is the
// user's own by its inherited access list.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	return nil
}
