"""Commands with a time limit, each in a process group of its own, so that all that one started ends with it."""

import os
import signal
import subprocess
import threading

# A runner that is asked to end takes its testee with it, which a killed one cannot.
GRACE = 5


class Interrupted(Exception):
    """The user stopped everything."""


class Processes:
    """All commands that run now, in several threads."""

    def __init__(self):
        self.stopped = False
        self._running = set()
        self._lock = threading.RLock()

    def run(self, command, limit, **options):
        """The exit code, or None at the time limit."""
        with self._lock:
            if self.stopped:
                raise Interrupted("interrupted")
            process = subprocess.Popen(command, start_new_session=True, **options)
            self._running.add(process)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end(process)
            with self._lock:
                self._running.discard(process)
        if self.stopped:
            raise Interrupted("interrupted")
        return code

    def stop(self):
        """Ends what runs, and lets nothing start any more. Called a second time, it kills at once."""
        if self.stopped:
            return self._send(signal.SIGKILL)
        self.stopped = True
        self._send(signal.SIGTERM)
        timer = threading.Timer(GRACE, self._send, [signal.SIGKILL])
        timer.daemon = True
        timer.start()

    def _send(self, number):
        with self._lock:
            for process in self._running:
                send(process, number)


def end(process):
    """Ends a command, if it still runs, and whatever it left behind."""
    if process.poll() is None:
        send(process, signal.SIGTERM)
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
    send(process, signal.SIGKILL)
    process.wait()


def send(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
