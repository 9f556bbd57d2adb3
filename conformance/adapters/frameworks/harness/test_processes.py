"""No command outlives its time limit or Ctrl-C, with all that it started."""

import subprocess
import tempfile
import threading
import time
import unittest
import unittest.mock
from pathlib import Path

from .processes import Interrupted, Processes

# Leaves a child behind, whose id it writes, and waits for it.
PARENT = ["sh", "-c", 'sleep 3600 & echo $! > "$0"; wait']


class EndsWithAllThatItStarted(unittest.TestCase):
    def setUp(self):
        self.pid = Path(self.enterContext(tempfile.TemporaryDirectory())) / "pid"
        self.processes = Processes()

    def assert_ended(self):
        until = time.monotonic() + 600
        while time.monotonic() < until:
            # One that nobody has waited for yet has ended as well.
            state = subprocess.run(["ps", "-o", "stat=", "-p", self.pid.read_text().strip()], capture_output=True, text=True).stdout
            if not state or state.startswith("Z"):
                return
            time.sleep(0.02)
        self.fail(f"process {self.pid.read_text().strip()} still runs")

    def test_at_the_time_limit(self):
        wait = subprocess.Popen.wait

        def reaches_its_limit(process, limit=None):
            # Only the first wait: that for the command itself, which has started its child by then.
            waits.stop()
            while not self.pid.exists() or not self.pid.read_text():
                time.sleep(0.02)
            raise subprocess.TimeoutExpired(process.args, limit)

        waits = unittest.mock.patch.object(subprocess.Popen, "wait", reaches_its_limit)
        waits.start()
        self.assertIsNone(self.processes.run([*PARENT, self.pid], 600))
        self.assertIs(subprocess.Popen.wait, wait)
        self.assert_ended()

    def test_when_it_ends_itself(self):
        self.assertEqual(self.processes.run(["sh", "-c", 'sleep 3600 & echo $! > "$0"; exit 3', self.pid], 600), 3)
        self.assert_ended()

    def test_when_everything_is_stopped(self):
        def stop():
            while not self.pid.exists() or not self.pid.read_text():
                time.sleep(0.02)
            self.processes.stop()

        thread = threading.Thread(target=stop)
        thread.start()
        with self.assertRaises(Interrupted):
            self.processes.run([*PARENT, self.pid], 30)
        thread.join()
        self.assert_ended()
        with self.assertRaises(Interrupted):
            self.processes.run(["true"], 30)


if __name__ == "__main__":
    unittest.main()
