; The installer for one user, without administrator rights. packaging/windows/build passes the variables.
Target amd64-unicode
SetCompressor /SOLID lzma
SetDateSave off
Name "Rollcall"
OutFile "${OUTFILE}"
InstallDir "$LOCALAPPDATA\Programs\Rollcall"
InstallDirRegKey HKCU "Software\Rollcall" "InstallDir"
RequestExecutionLevel user
ShowInstDetails nevershow
ShowUninstDetails nevershow

!include "MUI2.nsh"
!include "WordFunc.nsh"
!include "WinMessages.nsh"
!insertmacro WordReplace
!insertmacro un.WordReplace
!insertmacro VersionCompare

!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Rollcall"
; NSIS cuts strings at 1,024 characters. A PATH that comes near that is left as it is.
!define LONGEST_PATH 800

VIProductVersion "${NUMBERS}"
VIAddVersionKey "ProductName" "Rollcall"
VIAddVersionKey "FileDescription" "Rollcall installer"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "LegalCopyright" "The Rollcall authors, MIT licence"

BrandingText " "
!define MUI_COMPONENTSPAGE_SMALLDESC
!define MUI_ICON "${SOURCE}/assets/ico/rollcall.ico"
!define MUI_UNICON "${SOURCE}/assets/ico/rollcall.ico"
!define MUI_FINISHPAGE_RUN "$INSTDIR\rollcall.exe"
!define MUI_FINISHPAGE_RUN_TEXT "Start Rollcall"
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

Function .onInit
	ReadRegStr $0 HKCU "${UNINSTALL_KEY}" "Numbers"
	StrCmp $0 "" done
	${VersionCompare} "$0" "${NUMBERS}" $1
	StrCmp $1 "1" 0 done
	MessageBox MB_YESNO|MB_ICONEXCLAMATION|MB_DEFBUTTON2 "A newer version of Rollcall is installed. Replace it with version ${VERSION}?" /SD IDNO IDYES done
	SetErrorLevel 3
	Abort
done:
FunctionEnd

; A program that runs cannot be overwritten, but renamed: it runs on, and offers to restart as the new one.
!macro MakeWay NAME
	Delete "$INSTDIR\${NAME}.old"
	Rename "$INSTDIR\${NAME}" "$INSTDIR\${NAME}.old"
	Delete "$INSTDIR\${NAME}.old"
!macroend

Section "Rollcall" SecMain
	SectionIn RO
	SetOutPath "$INSTDIR"
	!insertmacro MakeWay "rollcall.exe"
	!insertmacro MakeWay "rollcall.com"
	ClearErrors
	File "/oname=rollcall.exe" "${BUILD}/rollcall.exe"
	File "/oname=rollcall.com" "${BUILD}/rollcall.com"
	File "/oname=rollcall.ico" "${SOURCE}/assets/ico/rollcall.ico"
	File "/oname=LICENSE.txt" "${SOURCE}/LICENSE"
	File "/oname=third-party-licences.txt" "${BUILD}/third-party-licences.txt"
	IfErrors 0 +4
		MessageBox MB_OK|MB_ICONSTOP "Rollcall could not be written to $INSTDIR. Quit Rollcall, check that the disk has room, then try again." /SD IDOK
		SetErrorLevel 2
		Abort
	WriteUninstaller "$INSTDIR\uninstall.exe"
	CreateShortcut "$SMPROGRAMS\Rollcall.lnk" "$INSTDIR\rollcall.exe" "" "$INSTDIR\rollcall.ico"
	WriteRegStr HKCU "Software\Rollcall" "InstallDir" "$INSTDIR"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "Rollcall"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "Numbers" "${NUMBERS}"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "The Rollcall authors"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\rollcall.ico"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
	WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
	WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
	WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
SectionEnd

Section "Use rollcall in a command prompt (PATH)" SecPath
	ClearErrors
	ReadRegStr $0 HKCU "Environment" "Path"
	IfErrors skip ; missing, or too long to be read: it is left as it is
	StrLen $1 $0
	IntCmp $1 ${LONGEST_PATH} 0 0 skip
	${WordReplace} ";$0;" ";$INSTDIR;" ";" "+" $2
	StrCmp $2 ";$0;" 0 skip ; it is there already
	StrCmp $0 "" 0 +3
		WriteRegExpandStr HKCU "Environment" "Path" "$INSTDIR"
		Goto +2
	WriteRegExpandStr HKCU "Environment" "Path" "$0;$INSTDIR"
	SendMessage ${HWND_BROADCAST} ${WM_WININICHANGE} 0 "STR:Environment" /TIMEOUT=2000
skip:
SectionEnd

Section /o "Start Rollcall when I log in" SecLogin
	ExecWait '"$INSTDIR\rollcall.exe" autostart on'
SectionEnd

Section "Uninstall"
	ExecWait '"$INSTDIR\rollcall.exe" autostart off'
	MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "Remove Rollcall's settings and its records of launches, locks and timers too?$\r$\nThe files of your agents are never touched." /SD IDNO IDNO keep
	ExecWait '"$INSTDIR\rollcall.exe" uninstall --purge --yes' $0
	IntCmp $0 0 keep
	MessageBox MB_OK|MB_ICONEXCLAMATION "Settings and state were not removed, because Rollcall still runs or keeps something. Nothing was lost. Quit it and try again, or run: rollcall uninstall --purge" /SD IDOK
	SetErrorLevel 2
	Abort
keep:
	!insertmacro MakeWay "rollcall.exe"
	!insertmacro MakeWay "rollcall.com"
	Delete "$INSTDIR\rollcall.ico"
	Delete "$INSTDIR\LICENSE.txt"
	Delete "$INSTDIR\third-party-licences.txt"
	Delete "$INSTDIR\uninstall.exe"
	RMDir "$INSTDIR"
	Delete "$SMPROGRAMS\Rollcall.lnk"
	ClearErrors
	ReadRegStr $0 HKCU "Environment" "Path"
	IfErrors skip ; missing, or too long to be read: it is left as it is
	StrLen $1 $0
	IntCmp $1 ${LONGEST_PATH} 0 0 skip
	${un.WordReplace} ";$0;" ";$INSTDIR;" ";" "+" $2
	StrCmp $2 ";$0;" skip ; it is not there
	StrCpy $2 $2 -1 1 ; without the semicolons that were added
	WriteRegExpandStr HKCU "Environment" "Path" "$2"
	SendMessage ${HWND_BROADCAST} ${WM_WININICHANGE} 0 "STR:Environment" /TIMEOUT=2000
skip:
	DeleteRegKey HKCU "${UNINSTALL_KEY}"
	DeleteRegKey HKCU "Software\Rollcall"
SectionEnd

LangString DESC_Main ${LANG_ENGLISH} "The tray, the window and the commands."
LangString DESC_Path ${LANG_ENGLISH} "Adds the folder to your PATH."
LangString DESC_Login ${LANG_ENGLISH} "The same as: rollcall autostart on"
!insertmacro MUI_FUNCTION_DESCRIPTION_BEGIN
	!insertmacro MUI_DESCRIPTION_TEXT ${SecMain} $(DESC_Main)
	!insertmacro MUI_DESCRIPTION_TEXT ${SecPath} $(DESC_Path)
	!insertmacro MUI_DESCRIPTION_TEXT ${SecLogin} $(DESC_Login)
!insertmacro MUI_FUNCTION_DESCRIPTION_END
