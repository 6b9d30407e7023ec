// Command release writes what goes with a release's files, from the files alone, so that the same files yield the same bytes:
//
//	release sbom VERSION OUT BINARY…       CycloneDX software bills of materials, from the build info of the binaries
//	release checksums FOLDER              FOLDER/SHA256SUMS
//	release manifests FOLDER VERSION URL  FOLDER/manifests: winget, Scoop, Homebrew, AUR; URL is where the files can be had
//	release sign FILE                     FILE.minisig; the key is in MINISIGN_KEY, its password in MINISIGN_PASSWORD
//	release verify FILE PUBLICKEY         checks FILE.minisig
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) >= 4 && args[0] == "sbom":
		return writeSBOMs(args[1], args[2], args[3:])
	case len(args) == 2 && args[0] == "checksums":
		return writeChecksums(args[1])
	case len(args) == 4 && args[0] == "manifests":
		return writeManifests(args[1], args[2], args[3])
	case len(args) == 2 && args[0] == "sign":
		return sign(args[1], os.Getenv("MINISIGN_KEY"), os.Getenv("MINISIGN_PASSWORD"))
	case len(args) == 3 && args[0] == "verify":
		return verify(args[1], args[2])
	}
	return errors.New("usage: release sbom VERSION OUT BINARY… | checksums FOLDER | manifests FOLDER VERSION URL | sign FILE | verify FILE PUBLICKEY")
}
