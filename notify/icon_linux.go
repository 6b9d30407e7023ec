package notify

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
)

// iconName returns the icon of notifications: the URL of a file with the PNG, or without a PNG the name of the installed
// icon. Sending the pixels would make each message ten times as large.
func iconName(png []byte) (string, error) {
	if len(png) == 0 {
		return appID, nil
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return appID, err
		}
	}
	path := filepath.Join(dir, "rollcall", "notification.png")
	if err := replaceFile(path, png); err != nil {
		return appID, fmt.Errorf("write the icon of notifications: %w", err)
	}
	return (&url.URL{Scheme: "file", Path: path}).String(), nil
}

func replaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "notification-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
