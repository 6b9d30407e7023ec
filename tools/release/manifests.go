package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

// release is what the templates of manifests know.
type release struct {
	Version string
	URL     string // of the folder with the files, without a slash at its end
	Home    string // of the project
	sums    map[string]string
}

var versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+(~[a-z0-9]+)?$`)

// File returns the address of a file. It is an error if the release has no such file.
func (r *release) File(name string) (string, error) {
	if r.sums[name] == "" {
		return "", fmt.Errorf("the release has no file %s", name)
	}
	return r.URL + "/" + url.PathEscape(name), nil
}

// Sum returns the checksum of a file.
func (r *release) Sum(name string) (string, error) {
	if r.sums[name] == "" {
		return "", fmt.Errorf("the release has no file %s", name)
	}
	return r.sums[name], nil
}

// AURVersion returns the version without what Arch Linux does not allow in one.
func (r *release) AURVersion() string { return strings.ReplaceAll(r.Version, "~", "") }

// Name returns the name of a file of this version.
func (r *release) Name(before, after string) string { return before + "-" + r.Version + "-" + after }

// manifest is one file for a package manager. It is made only if the release has every file of needs.
type manifest struct {
	path  string
	needs [][2]string
	text  string
}

// writeManifests writes the manifests whose files the release has, and names the others.
func writeManifests(folder, version, address string) error {
	if !versionPattern.MatchString(version) {
		return fmt.Errorf("%q is not a version like 0.1.0", version)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is not an https address of the release's files", address)
	}
	sums, err := readChecksums(folder)
	if err != nil {
		return err
	}
	r := &release{Version: version, URL: strings.TrimSuffix(address, "/"), sums: sums}
	r.Home, _, _ = strings.Cut(r.URL, "/releases/")
	to := filepath.Join(folder, "manifests")
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	for _, m := range manifests {
		if missing := m.missing(r); missing != "" {
			fmt.Printf("not made: manifests/%s, which needs %s\n", m.path, missing)
			continue
		}
		if err := m.write(to, r); err != nil {
			return err
		}
	}
	return nil
}

func (m *manifest) missing(r *release) string {
	for _, n := range m.needs {
		if name := r.Name(n[0], n[1]); r.sums[name] == "" {
			return name
		}
	}
	return ""
}

func (m *manifest) write(to string, r *release) error {
	t, err := template.New(m.path).Option("missingkey=error").Parse(strings.TrimLeft(m.text, "\n"))
	if err != nil {
		return err
	}
	path := filepath.Join(to, m.path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = t.Execute(f, r)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

var setup = [2]string{"rollcall", "windows-amd64-setup.exe"}

// manifests are the files that the package managers ask for, each in the form of its own repository.
var manifests = []manifest{
	{"winget/Rollcall.Rollcall.yaml", [][2]string{setup}, `
PackageIdentifier: Rollcall.Rollcall
PackageVersion: {{.Version}}
DefaultLocale: en-US
ManifestType: version
ManifestVersion: 1.6.0
`},
	{"winget/Rollcall.Rollcall.installer.yaml", [][2]string{setup}, `
{{$f := .Name "rollcall" "windows-amd64-setup.exe" -}}
PackageIdentifier: Rollcall.Rollcall
PackageVersion: {{.Version}}
InstallerType: nullsoft
Scope: user
UpgradeBehavior: install
Commands: [rollcall]
Installers:
  - Architecture: x64
    InstallerUrl: {{.File $f}}
    InstallerSha256: {{.Sum $f}}
ManifestType: installer
ManifestVersion: 1.6.0
`},
	{"winget/Rollcall.Rollcall.locale.en-US.yaml", [][2]string{setup}, `
PackageIdentifier: Rollcall.Rollcall
PackageVersion: {{.Version}}
PackageLocale: en-US
Publisher: The Rollcall authors
PackageName: Rollcall
PackageUrl: {{.Home}}
License: MIT
ShortDescription: Tray icon that lists the coding agents of this machine
ManifestType: defaultLocale
ManifestVersion: 1.6.0
`},
	{"scoop/rollcall.json", [][2]string{{"rollcall", "windows-amd64.zip"}}, `
{{$f := .Name "rollcall" "windows-amd64.zip" -}}
{
    "version": "{{.Version}}",
    "description": "Tray icon that lists the coding agents of this machine",
    "homepage": "{{.Home}}",
    "license": "MIT",
    "architecture": {
        "64bit": {
            "url": "{{.File $f}}",
            "hash": "{{.Sum $f}}"
        }
    },
    "bin": "rollcall.com",
    "shortcuts": [["rollcall.exe", "Rollcall"]]
}
`},
	{"homebrew/Casks/rollcall.rb", [][2]string{{"rollcall", "macos-arm64.dmg"}, {"rollcall", "macos-amd64.dmg"}}, `
{{$a := .Name "rollcall" "macos-arm64.dmg"}}{{$i := .Name "rollcall" "macos-amd64.dmg" -}}
cask "rollcall" do
  version "{{.Version}}"
  on_arm do
    url "{{.File $a}}"
    sha256 "{{.Sum $a}}"
  end
  on_intel do
    url "{{.File $i}}"
    sha256 "{{.Sum $i}}"
  end
  name "Rollcall"
  desc "Tray icon that lists the coding agents of this machine"
  homepage "{{.Home}}"
  depends_on macos: ">= :sonoma"
  app "Rollcall.app"
  binary "#{appdir}/Rollcall.app/Contents/MacOS/rollcall"
  uninstall quit: "io.github.rollcall.Rollcall"
  zap launchctl: ["io.github.rollcall.Rollcall", "rollcall.keep"],
      trash:     ["~/Library/Application Support/rollcall", "~/Library/Caches/rollcall",
                  "~/Library/LaunchAgents/io.github.rollcall.Rollcall.plist", "~/Library/LaunchAgents/rollcall.keep.plist"]
  caveats "The start at login survives upgrades. Before you remove Rollcall, turn it off: rollcall autostart off. Or use --zap."
end
`},
	{"homebrew/Formula/rollcall-cli.rb", [][2]string{{"rollcall-cli", "darwin-arm64.tar.gz"}, {"rollcall-cli", "darwin-amd64.tar.gz"},
		{"rollcall-cli", "linux-amd64.tar.gz"}, {"rollcall-cli", "linux-arm64.tar.gz"}}, `
{{$da := .Name "rollcall-cli" "darwin-arm64.tar.gz"}}{{$di := .Name "rollcall-cli" "darwin-amd64.tar.gz" -}}
{{$la := .Name "rollcall-cli" "linux-arm64.tar.gz"}}{{$li := .Name "rollcall-cli" "linux-amd64.tar.gz" -}}
class RollcallCli < Formula
  desc "Lists the coding agents of this machine"
  homepage "{{.Home}}"
  version "{{.Version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{.File $da}}"
      sha256 "{{.Sum $da}}"
    end
    on_intel do
      url "{{.File $di}}"
      sha256 "{{.Sum $di}}"
    end
  end
  on_linux do
    on_arm do
      url "{{.File $la}}"
      sha256 "{{.Sum $la}}"
    end
    on_intel do
      url "{{.File $li}}"
      sha256 "{{.Sum $li}}"
    end
  end

  def install
    bin.install "bin/rollcall"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/rollcall"
    zsh_completion.install "share/zsh/site-functions/_rollcall"
    fish_completion.install "share/fish/vendor_completions.d/rollcall.fish"
  end

  test do
    assert_match "rollcall", shell_output("#{bin}/rollcall version")
  end
end
`},
	{"aur/PKGBUILD", [][2]string{{"rollcall", "linux-amd64.tar.gz"}, {"rollcall", "linux-arm64.tar.gz"}}, `
{{$a := .Name "rollcall" "linux-amd64.tar.gz"}}{{$b := .Name "rollcall" "linux-arm64.tar.gz" -}}
pkgname=rollcall-bin
pkgver={{.AURVersion}}
pkgrel=1
pkgdesc="Tray icon that lists the coding agents of this machine"
arch=(x86_64 aarch64)
url="{{.Home}}"
license=(MIT)
depends=(glibc libglvnd libx11 libxcursor libxrandr libxi libxinerama libxxf86vm libxrender hicolor-icon-theme)
provides=(rollcall)
conflicts=(rollcall rollcall-cli)
source_x86_64=("{{.File $a}}")
source_aarch64=("{{.File $b}}")
sha256sums_x86_64=({{.Sum $a}})
sha256sums_aarch64=({{.Sum $b}})

package() {
  cd rollcall-{{.Version}}-linux-*
  mkdir -p "$pkgdir/usr"
  cp -a bin share "$pkgdir/usr/"
  install -Dm644 LICENSE "$pkgdir/usr/share/licenses/rollcall/LICENSE"
}
`},
}
