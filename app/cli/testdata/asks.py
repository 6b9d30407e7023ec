#!/usr/bin/env python3
"""Speaks for the agent "asker", a program that asks in the file ask.json of its folder and reads the answer from the file answer there."""
import json, os, sys, time

def say(event, **more):
    print(json.dumps({"schema": 1, "event": event, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **more}), flush=True)

def sessions():
    """Yields the id, pid, start time and folder of each process of the agent."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                name, _, rest = f.read().partition("(")[2].rpartition(")")
            if name == "asker":
                yield "s" + pid, int(pid), int(rest.split()[19]), os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            pass  # it has ended

def asked(folder):
    try:
        with open(folder + "/ask.json") as f:
            return json.load(f)
    except FileNotFoundError:
        return None  # it asks nothing

def rows():
    for id, pid, start, folder in sessions():
        waits = asked(folder)
        row = {"id": id, "agent": "asker", "pid": pid, "pid_start": start, "cwd": folder, "status": "waiting" if waits else "working"}
        if waits:
            row["waiting_for"] = "question" if waits.get("questions") else "permission"
        say("session", session={**row, "evidence": "ask.json is there" if waits else "ask.json is gone"})
    say("roll")

def requests():
    for id, pid, start, folder in sessions():
        if waits := asked(folder):
            say("request", request={"session": id, "agent": "asker", "folder": folder, **waits})
    say("roll")

def answer():
    given = json.loads(sys.stdin.readline())["answer"]
    told = {"session": given["session"], "id": given["id"]}
    for id, pid, start, folder in sessions():
        waits = asked(folder)
        if id != given["session"] or not waits or waits["id"] != given["id"]:
            continue
        if waits.get("text", given["text"]) != given["text"]:
            return say("answered", answered={**told, "result": "changed"})
        with open(folder + "/answer.new", "w") as f:
            f.write(given["verdict"] + " " + json.dumps(given.get("answers", [])))
        os.rename(folder + "/answer.new", folder + "/answer")
        return say("answered", answered={**told, "result": "taken", "evidence": "the file answer was written"})
    say("answered", answered={**told, "result": "gone"})

say("hello", hello={"version": "1", "heartbeat": 15})
{"rows": rows, "requests": requests, "answer": answer}[sys.argv[1]]()
