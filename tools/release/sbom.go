package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOMs writes one bill of materials for each binary, named after the binary's file.
func writeSBOMs(version, out string, binaries []string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, path := range binaries {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%s has no build info of Go: %w", path, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		bom := billOfMaterials(version, filepath.Base(path), hex.EncodeToString(sum[:]), info)
		var text bytes.Buffer
		if err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, filepath.Base(path)+".cdx.json"), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// billOfMaterials describes a binary and the modules in it. It has neither a time nor a serial number, which would differ from
// build to build.
func billOfMaterials(version, name, sum string, info *buildinfo.BuildInfo) *cdx.BOM {
	bom := cdx.NewBOM()
	bom.SerialNumber = ""
	main := cdx.Component{BOMRef: "pkg:generic/rollcall@" + version, Type: cdx.ComponentTypeApplication, Name: "rollcall", Version: version,
		PackageURL: "pkg:generic/rollcall@" + version, Licenses: &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}},
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}, Properties: &[]cdx.Property{{Name: "file", Value: name}}}
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "GO") || s.Key == "-tags" || s.Key == "-buildmode" || s.Key == "vcs.revision" {
			*main.Properties = append(*main.Properties, cdx.Property{Name: "go:" + s.Key, Value: s.Value})
		}
	}
	bom.Metadata = &cdx.Metadata{Component: &main}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	components := []cdx.Component{{BOMRef: "pkg:golang/std@" + goVersion, Type: cdx.ComponentTypeLibrary, Name: "std", Version: goVersion, PackageURL: "pkg:golang/std@" + goVersion}}
	for _, m := range info.Deps {
		components = append(components, component(m))
	}
	var refs []string
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	return bom
}

func component(m *debug.Module) cdx.Component {
	m = cmp.Or(m.Replace, m)
	purl := "pkg:golang/" + strings.ToLower(m.Path) + "@" + m.Version
	c := cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl}
	if m.Sum != "" {
		// The module's hash is Go's, over its files, and none of the algorithms of CycloneDX.
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
	}
	return c
}
