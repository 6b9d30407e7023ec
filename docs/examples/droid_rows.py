#!/usr/bin/env python3
"""Lists the headless runs of Droid (droid exec, 0.225.2) for Rollcall: rows = ["/home/me/droid_rows.py"]."""
import glob, json, os, sys, time

def say(event, **more):
    print(json.dumps({"schema": 1, "event": event, "at": stamp(time.time()), **more}), flush=True)

def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))

def processes():
    """Yields pid, start time, folder and time of the start of each process of Droid."""
    with open("/proc/uptime") as f:
        boot = time.time() - float(f.read().split()[0])
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as f:
                name, _, rest = f.read().partition("(")[2].rpartition(")")
            if name == "droid":
                start = int(rest.split()[19])  # field 22: clock ticks since the boot
                folder = os.readlink(os.path.dirname(path) + "/cwd")
                yield int(path.split("/")[2]), start, folder, boot + start / os.sysconf("SC_CLK_TCK")
        except OSError:
            pass  # it has ended, or is another user's

def session(path, running):
    row = {"id": os.path.basename(path)[:-6], "agent": "droid", "headless": True}
    turn, reason = None, None  # the open turn, and how the last one ended
    with open(path, errors="replace") as f:
        for line in f:
            try:
                r = json.loads(line)
            except ValueError:
                continue  # the last line may still be being written
            message = r.get("message") or {}
            if r.get("type") == "session_start":
                row["cwd"], row["title"] = r.get("cwd", ""), r.get("title", "")
            elif r.get("type") == "agent_turn_outcome":
                turn, reason = None, r.get("reason")
            elif message.get("role") == "user" and not str(r.get("id")).startswith("context-"):
                text = [c.get("text", "") for c in message.get("content", []) if isinstance(c, dict) and c.get("type") == "text"]
                if text:  # otherwise it has the result of a tool
                    turn, row["last_prompt"] = r.get("id"), text[0]
    written = os.stat(path).st_mtime
    row["last_activity_at"] = stamp(written)
    # No record names the process: it is the only one of the folder that began before the last record.
    mine = [p for p in running if p[2] == row.get("cwd") and p[3] <= written + 1]
    if turn and len(mine) == 1:
        return {**row, "status": "working", "pid": mine[0][0], "pid_start": mine[0][1], "evidence": "a turn is open"}
    if turn:
        return {**row, "status": "unknown" if mine else "stopped", "outcome": "" if mine else "died", "evidence": f"a turn is open, and {len(mine)} processes can have it"}
    outcome = {"completed": "completed", None: ""}.get(reason, "failed")
    return {**row, "status": "stopped", "outcome": outcome, "evidence": f"the last turn ended: {reason}"}

say("hello", hello={"version": "1", "heartbeat": 15})
running = list(processes())
for path in sorted(glob.glob(os.path.expanduser("~/.factory/sessions/*/*.jsonl")), key=os.path.getmtime, reverse=True):
    say("session", session=session(path, running))
say("roll")
