# Five minutes on Windows: prints what Rollcall's volunteers are asked for, to be pasted into an issue. It only reads, and sends nothing.
# Windows PowerShell 5.1 and later:
#   powershell -ExecutionPolicy Bypass -File check-windows.ps1 [-Rollcall PATH] [-CommandLines]
param([string]$Rollcall = "", [switch]$CommandLines)
$ErrorActionPreference = "Continue"
@'
An agent or two should be open in a terminal. It prints, in this order, and nothing else:
 1. the version of Windows, the processor, the language, the code page, whether it runs as an administrator
 2. the versions of Rollcall and of the agents, and where their programs are
 3. the names of the agents' processes with pid, parent, session and program, without command lines unless -CommandLines is given
 4. how many of these processes Windows lets this user read (the program's path, the start time)
 5. how long "rollcall doctor" and "rollcall list" take, doctor's report, and of the list the first two words of each line
 6. who has the newest file of a Codex session open, as Rollcall says
 7. the entry that starts Rollcall at login, and whether Windows has it switched off
 8. the latest errors of rollcall.exe in the event log
 9. questions for you: the notification, the icon, the menu
Your profile folder is printed as ~, and your user's name as USER.
'@
function Part([string]$name) { "`n## $name" }
function Hide {
	process { ([string]$_).Replace($env:USERPROFILE, "~").Replace($env:USERNAME, "USER") }
}
function Timed([string]$name, [scriptblock]$what) {
	$watch = [Diagnostics.Stopwatch]::StartNew()
	$output = & $what 2>&1 | Out-String
	"$name took $([math]::Round($watch.Elapsed.TotalSeconds, 2)) s, exit code $LASTEXITCODE"
	$script:output = $output
}
if (-not $Rollcall) {
	$command = Get-Command rollcall.com -ErrorAction SilentlyContinue
	if ($command) { $Rollcall = $command.Source } else { $Rollcall = Join-Path $env:LOCALAPPDATA "Programs\Rollcall\rollcall.com" }
}
if (-not (Test-Path -LiteralPath $Rollcall)) {
	"check-windows: $Rollcall is no program; name it: -Rollcall PATH"
	exit 1
}
$names = "^(claude|codex|opencode|kilo|copilot|cline|gemini|qwen|openclaw|pi|node|bun)"

Part "1 system"
$system = Get-CimInstance Win32_OperatingSystem
"$($system.Caption) $($system.Version) $($system.OSArchitecture)"
"culture $((Get-Culture).Name), code page $([Console]::OutputEncoding.CodePage)"
$self = [Security.Principal.WindowsPrincipal][Security.Principal.WindowsIdentity]::GetCurrent()
"administrator: $($self.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator))"

Part "2 versions"
& $Rollcall version | Hide
foreach ($agent in "claude", "codex", "opencode", "kilo", "copilot", "cline", "gemini", "qwen", "pi", "openclaw") {
	$found = Get-Command $agent -ErrorAction SilentlyContinue | Select-Object -First 1
	if ($found) { "${agent}: $($found.Source)" | Hide }
}

Part "3 names of processes"
$processes = Get-CimInstance Win32_Process | Where-Object { $_.Name -match $names }
foreach ($p in $processes) {
	"$($p.ProcessId) $($p.ParentProcessId) session $($p.SessionId) $($p.Name) $($p.ExecutablePath)" | Hide
	if ($CommandLines) { "  $($p.CommandLine)" | Hide }
}

Part "4 what can be read"
$paths = @($processes | Where-Object { $_.ExecutablePath }).Count
$starts = @($processes | Where-Object { $_.CreationDate }).Count
"$(@($processes).Count) processes, of $paths the program, of $starts the start"

Part "5 rollcall"
Timed "doctor" { & $Rollcall doctor }
$output | Hide
Timed "list" { & $Rollcall list }
foreach ($line in ($output -split "`r?`n")) { (($line -split "\s+" | Select-Object -First 2) -join " ") | Hide }

Part "6 a Codex session"
$sessions = Join-Path $env:USERPROFILE ".codex\sessions"
$newest = Get-ChildItem -LiteralPath $sessions -Recurse -Filter "rollout-*.jsonl" -ErrorAction SilentlyContinue | Sort-Object LastWriteTime | Select-Object -Last 1
if ($newest -and $newest.BaseName -match "([0-9a-f]{8}-[0-9a-f-]{27})$") {
	& $Rollcall status $Matches[1] 2>&1 | Select-String "^(status|evidence|process)" | Hide
} else {
	"no session of Codex"
}

Part "7 start at login"
& $Rollcall autostart status 2>&1 | Hide
$approved = "HKCU:\Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
$state = (Get-ItemProperty -LiteralPath $approved -ErrorAction SilentlyContinue).Rollcall
if ($state) { "Windows keeps: $($state[0])" } else { "Windows keeps nothing about it" }

Part "8 errors"
Get-WinEvent -FilterHashtable @{ LogName = "Application"; Level = 2; StartTime = (Get-Date).AddDays(-1) } -ErrorAction SilentlyContinue |
	Where-Object { $_.Message -match "rollcall" } | Select-Object -First 3 | ForEach-Object { "$($_.TimeCreated) $($_.ProviderName) $(($_.Message -split "`n")[0])" } | Hide

Part "9 please answer"
"Did a notification appear when an agent asked? Is the icon in the notification area, sharp, also in dark mode? Does its menu open and list your agents?"
"Did a console window flash at any time? Did 'Show terminal' raise the right window, or only make its button blink?"
