package instance

import (
	"fmt"
	"os"
)

// private returns an error unless dir is a folder. Its access needs no check: folders in
// %LOCALAPPDATA% are the user's own by their inherited access lists.
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
