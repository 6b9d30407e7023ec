package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aead.dev/minisign"
)

const sumsFile = "SHA256SUMS"

// writeChecksums writes the sums of all files of a folder, by name, in the form of sha256sum.
func writeChecksums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, e := range entries { // sorted by name
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), sumsFile) {
			continue
		}
		sum, err := sumOf(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, e.Name())
	}
	return os.WriteFile(filepath.Join(folder, sumsFile), []byte(text.String()), 0o644)
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// readChecksums returns the sums that writeChecksums wrote, by file.
func readChecksums(folder string) (map[string]string, error) {
	f, err := os.Open(filepath.Join(folder, sumsFile))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	sums := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || len(sum) != 2*sha256.Size {
			return nil, fmt.Errorf("%s: %q is not a checksum and a file", f.Name(), lines.Text())
		}
		sums[name] = sum
	}
	return sums, lines.Err()
}

// sign signs a file with an encrypted minisign key. The comment has the file's name and no time, so that the same file has the
// same signature.
func sign(path, key, password string) error {
	if key == "" {
		return fmt.Errorf("%s is not signed: MINISIGN_KEY is empty; it is the text of the secret key file that `minisign -G` makes", path)
	}
	private, err := minisign.DecryptKey(password, []byte(key))
	if err != nil {
		return fmt.Errorf("the key in MINISIGN_KEY cannot be read with the password in MINISIGN_PASSWORD: %w", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	signature := minisign.SignWithComments(private, data, "file:"+filepath.Base(path), "signature of the Rollcall release")
	return os.WriteFile(path+".minisig", signature, 0o644)
}

// verify checks the signature of a file with a public key, or with the file of one.
func verify(path, public string) error {
	var key minisign.PublicKey
	if err := key.UnmarshalText([]byte(public)); err != nil {
		if key, err = minisign.PublicKeyFromFile(public); err != nil {
			return fmt.Errorf("%s is neither a minisign key nor its file: %w", public, err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	signature, err := os.ReadFile(path + ".minisig")
	if err != nil {
		return err
	}
	if !minisign.Verify(key, data, signature) {
		return fmt.Errorf("%s.minisig is not a signature of %s with this key", path, path)
	}
	return nil
}
