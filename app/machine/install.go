package machine

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"rollcall/app/present"
)

// System is an operating system and an architecture, as Go names them.
type System struct{ OS, Arch string }

func (s System) String() string { return s.OS + "/" + s.Arch }

// goNames maps the names that uname prints to those of Go.
var goNames = map[string]string{
	"linux": "linux", "darwin": "darwin", "freebsd": "freebsd",
	"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "armv7l": "arm", "armv6l": "arm", "i686": "386", "i386": "386", "riscv64": "riscv64",
}

// System asks a machine behind ssh for its system. It also tests the connection.
func (h *Host) System(ctx context.Context) (System, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	name, argv := h.sshCommand(false, "echo rollcall; uname -s; uname -m")
	out, err := h.output(ctx, name, argv, nil)
	if err != nil {
		return System{}, err
	}
	_, after, found := strings.Cut("\n"+string(out), "\nrollcall\n") // start files may have printed something before
	words := strings.Fields(strings.ToLower(after))
	if !found || len(words) != 2 {
		return System{}, failure("%s has no POSIX shell: Rollcall cannot find out its system. For Windows with WSL, use exec = [\"wsl.exe\", …]", present.Line(h.target()))
	}
	s := System{goNames[words[0]], goNames[words[1]]}
	if s.OS == "" || s.Arch == "" {
		return s, failure("there is no Rollcall for the system of %s (%s)", present.Line(h.target()), present.Line(strings.Join(words, " ")))
	}
	return s, nil
}

// Binary is a program that can be copied to another machine.
type Binary struct {
	Path string
	Size int64
	Sum  string // SHA-256, in hexadecimal digits
}

// maxBinary is far above the size of the program.
const maxBinary = 500 << 20

// FindBinary returns the program for a system: the file, or, without one, this program itself or the static one beside it, if it fits.
func FindBinary(file string, want System) (Binary, error) {
	if file != "" {
		if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for its other end
			return Binary{}, fmt.Errorf("%s: it is not a regular file", present.Line(file))
		}
		if err := fits(file, want); err != nil {
			return Binary{}, fmt.Errorf("%s: %w", present.Line(file), err)
		}
		return sum(file)
	}
	self, err := os.Executable()
	if err != nil {
		return Binary{}, err
	}
	for _, path := range []string{self, filepath.Join(filepath.Dir(self), "rollcall-headless")} {
		if fits(path, want) == nil {
			return sum(path)
		}
	}
	return Binary{}, fmt.Errorf("this program is not a static build for %s: build one (make headless) or download it, and name it with --binary FILE", want)
}

// elfMachines are the architectures of ELF programs.
var elfMachines = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_ARM: "arm", elf.EM_386: "386", elf.EM_RISCV: "riscv64"}

// fits returns the reason why a program does not run on a system, or nil if it seems to run there. If programs are ELF files, it must need no library of the
// other machine.
func fits(path string, want System) error {
	if want.OS == "darwin" {
		if runtime.GOOS != "darwin" || runtime.GOARCH != want.Arch {
			return fmt.Errorf("it cannot be checked on %s/%s whether the program runs on %s: copy it by hand to ~/.local/bin/rollcall", runtime.GOOS, runtime.GOARCH, want)
		}
		return nil
	}
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("it is not a program for %s", want)
	}
	defer func() { _ = f.Close() }()
	if arch := elfMachines[f.Machine]; arch != want.Arch {
		return fmt.Errorf("it is a program for %s, and %s is needed", f.Machine, want)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("it needs libraries that the other machine may not have: use the static build (make headless)")
		}
	}
	return nil
}

// sum returns the size and the sum of a file.
func sum(path string) (Binary, error) {
	f, err := os.Open(path)
	if err != nil {
		return Binary{}, err
	}
	defer func() { _ = f.Close() }()
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(f, maxBinary))
	if err != nil {
		return Binary{}, err
	}
	return Binary{Path: path, Size: n, Sum: hex.EncodeToString(hash.Sum(nil))}, nil
}

// installScript installs its standard input as ~/.local/bin/rollcall, if its SHA-256 sum is the first argument and the program runs there.
const installScript = `set -eu
dir=$HOME/.local/bin
mkdir -p "$dir"
new=$dir/.rollcall.$$.new
trap 'rm -f "$new"' EXIT
cat >"$new"
if command -v sha256sum >/dev/null; then sum=$(sha256sum "$new")
elif command -v shasum >/dev/null; then sum=$(shasum -a 256 "$new")
else echo "neither sha256sum nor shasum is there to check the copy" >&2; exit 1; fi
if [ "${sum%% *}" != "$1" ]; then echo "the copy differs from the file: nothing was installed" >&2; exit 1; fi
chmod 755 "$new"
"$new" version >/dev/null
mv -f "$new" "$dir/rollcall"`

// installLimit is how long a copy may take.
const installLimit = 15 * time.Minute

// Install copies a program to ~/.local/bin/rollcall on the other machine. If it fails, the program there is unchanged.
func (h *Host) Install(ctx context.Context, b Binary) error {
	f, err := os.Open(b.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	name, argv := h.sshCommand(false, installScript, b.Sum)
	_, err = h.output(ctx, name, argv, f)
	return err
}
