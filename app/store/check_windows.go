package store

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// noWait is 0, since no file in a folder is a pipe on Windows.
const noWait = 0

// asFolder is empty: see noWait.
const asFolder = ""

// LockFlags are the flags for opening a lock file.
const LockFlags = os.O_CREATE | os.O_RDWR

// FileNumber returns an empty string: the number of a file is not known on Windows.
func FileNumber(fs.FileInfo) string { return "" }

// owners is the set of users to whom a file may belong. Administrators and the system are always allowed: they can change
// every file, and own the files of elevated programs.
type owners int

const (
	onlyUser owners = iota
	userOrRoot
)

// writes is the set of access rights that allow changing a file or folder, or its owner.
const writes = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.FILE_WRITE_EA | windows.FILE_WRITE_ATTRIBUTES |
	fileDeleteChild | windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL

const fileDeleteChild = 0x40

// checkOwner returns an *UnsafeError if the file belongs to anyone but the user, the administrators or the system, or if
// its access list allows another user to write.
func checkOwner(path string, _ fs.FileInfo, _ owners) error {
	trusted, err := trustedSIDs()
	if err != nil {
		return fmt.Errorf("%s: cannot read its permissions: %w", path, err)
	}
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("%s: cannot read its permissions: %w", path, err)
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return fmt.Errorf("%s: cannot read its owner: %w", path, err)
	}
	if !among(owner, trusted) {
		return &UnsafeError{path, "it belongs to another user (" + account(owner) + ")",
			"Move it away, or check its contents and run: takeown /f " + Quote(path) + "."}
	}
	list, _, err := sd.DACL()
	if err != nil || list == nil { // without a list every user has all rights
		return writable(path, "every user")
	}
	for i := range list.AceCount {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, uint32(i), &ace); err != nil {
			return fmt.Errorf("%s: cannot read its access list: %w", path, err)
		}
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 || ace.Mask&writes == 0 {
			continue
		}
		if sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart)); !among(sid, trusted) {
			return writable(path, account(sid))
		}
	}
	return nil
}

func writable(path, who string) error {
	return &UnsafeError{path, who + " can write to it",
		"Check its contents, then run: icacls " + Quote(path) + " /inheritance:r /grant:r %USERNAME%:F."}
}

// trustedSIDs returns the ids of the user, the administrators and the system, and the placeholders for the owner.
func trustedSIDs() ([]*windows.SID, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	out := []*windows.SID{user.User.Sid}
	for _, kind := range []windows.WELL_KNOWN_SID_TYPE{
		windows.WinBuiltinAdministratorsSid, windows.WinLocalSystemSid, windows.WinCreatorOwnerSid, windows.WinCreatorOwnerRightsSid,
	} {
		sid, err := windows.CreateWellKnownSid(kind)
		if err != nil {
			return nil, err
		}
		out = append(out, sid)
	}
	return out, nil
}

func among(sid *windows.SID, list []*windows.SID) bool { return slices.ContainsFunc(list, sid.Equals) }

func account(sid *windows.SID) string {
	if name, domain, _, err := sid.LookupAccount(""); err == nil {
		return domain + `\` + name
	}
	return sid.String()
}
