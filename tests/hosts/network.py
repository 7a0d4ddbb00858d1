"""Hosts that are namespaces of the network, joined by a bridge. Needs root, and iproute2."""

import errno
import os
import subprocess
import sys
import time


class Network:
    """Hosts 1 to `count`, and one more with the bridge, on which launchers run. Each has a name of its own."""

    def __init__(self, count, folder):
        self.name, self.count = f"hosts{os.getpid()}", count
        self.enter = os.path.join(folder, "enter")
        top = self.space(0)
        ip("netns", "add", top)
        for command in ["link set lo up", "link add bridge type bridge", f"address add {self.address(100)}/24 dev bridge",
                        "link set bridge up"]:
            ip("-n", top, *command.split())
        for host in range(1, count + 1):
            space = self.space(host)
            ip("netns", "add", space)
            ip("-n", top, "link", "add", f"link{host}", "type", "veth", "peer", "name", "net", "netns", space)
            ip("-n", top, "link", "set", f"link{host}", "master", "bridge", "up")
            ip("-n", space, "address", "add", f"{self.address(host)}/24", "dev", "net")
            ip("-n", space, "link", "set", "lo", "up")
            ip("-n", space, "link", "set", "net", "up")
        # As ssh does it: options, an address, and a command, or text for a shell.
        with open(self.enter, "w") as script:
            script.write(f"""#!/bin/sh
while test "${{1#-}}" != "$1"; do shift; done
host=${{1##*.}}; shift
case "$1" in *[=\\"\\ ]*) set -- sh -c "$*" ;; esac
exec ip netns exec {self.name}-$host unshare --uts sh -c "hostname host$host; exec \\"\\$@\\"" sh "$@"
""")
        os.chmod(self.enter, 0o755)

    @staticmethod
    def address(host):
        return f"10.251.9.{host}"

    def space(self, host):
        return f"{self.name}-{host}"

    def launcher(self):
        """What begins the command of a launcher."""
        return ["ip", "netns", "exec", self.space(0)]

    def hosts(self, ranks, count=None):
        """`count` hosts, or all, with room for so many ranks each."""
        return ",".join(f"{self.address(host)}:{ranks}" for host in range(1, (count or self.count) + 1))

    def link(self, host, state):
        """Takes a host off the network, or lets it come back: it is there again once it reaches the launcher's host."""
        ip("-n", self.space(0), "link", "set", f"link{host}", state)
        connect = f"import socket; print(socket.socket().connect_ex(('{self.address(100)}', 9)))"
        command = ["ip", "netns", "exec", self.space(host), sys.executable, "-c", connect]
        while state == "up" and int(subprocess.check_output(command)) not in (0, errno.ECONNREFUSED):
            time.sleep(0.05)

    def end_all(self):
        """Ends whoever runs on a host."""
        for host in range(self.count + 1):
            running = subprocess.check_output(["ip", "netns", "pids", self.space(host)], text=True).split()
            subprocess.run(["kill", "-KILL", *running], check=False, stderr=subprocess.DEVNULL)

    def close(self):
        for host in range(self.count + 1):
            subprocess.run(["ip", "netns", "delete", self.space(host)], check=False)


def compiled(prefix, folder, name, text):
    """The path of a program, compiled in a folder by what is installed under `prefix`."""
    program = os.path.join(folder, name)
    with open(program + ".c", "w") as source:
        source.write(text)
    subprocess.run([f"{prefix}/bin/mpicc", "-O1", source.name, "-o", program], check=True)
    return program


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)
