# /// script
# requires-python = ">=3.12"
# dependencies = ["mitmproxy==12.3.1", "openai==2.26.0", "anthropic==0.84.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""mitmproxy between the SDKs of OpenAI and Anthropic and the model: its flow file (`-w`) and its HAR (`hardump`)."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anthropic
import openai
import story
from out import FORMS, source, write

MITMDUMP = Path(sys.executable).parent / "mitmdump"
LOOPS = {"openai-chat": story.chat, "openai-responses": story.responses, "anthropic": story.anthropic}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def recorded(api, stream, folder):
    """Has both conversations through mitmproxy, and gives its flow file and its HAR."""
    upstream = os.environ["ANTHROPIC_BASE_URL" if api == "anthropic" else "OPENAI_BASE_URL"].removesuffix("/v1")
    port, flows, har = free_port(), folder / "flows.mitm", folder / "log.har"
    flows.unlink(missing_ok=True)
    proxy = subprocess.Popen([MITMDUMP, "-q", "--listen-host", "127.0.0.1", "-p", str(port), "--mode", f"reverse:{upstream}", "-w", flows, "--set", f"hardump={har}", "--set", f"confdir={folder}"])
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            time.sleep(0.2)
    url = f"http://127.0.0.1:{port}"
    client = anthropic.Anthropic(base_url=url) if api == "anthropic" else openai.OpenAI(base_url=url + "/v1")
    for _ in LOOPS[api](client, stream=stream):
        pass
    client.close()
    proxy.send_signal(signal.SIGINT)
    proxy.wait()
    return flows.read_bytes(), json.loads(har.read_text())


with tempfile.TemporaryDirectory() as folder:
    for api in LOOPS:
        flows, har = recorded(api, False, Path(folder))
        write(f"har-{api}", "clean.har", har)
        (FORMS / f"mitmproxy-{api}").mkdir(exist_ok=True)
        (FORMS / f"mitmproxy-{api}/clean.mitm").write_bytes(flows)
        _, har = recorded(api, True, Path(folder))
        write(f"har-{api}", "clean-streamed.har", har)
        package = "anthropic" if api == "anthropic" else "openai"
        source(f"har-{api}", "A HAR 1.2 that mitmproxy wrote (`--set hardump`) of a client of the API, with whole answers and with streams.", "mitmproxy", package, script="make-mitmproxy.py")
        source(f"mitmproxy-{api}", "The flow file that mitmproxy wrote (`-w`, tnetstrings) of a client of the API.", "mitmproxy", package, script="make-mitmproxy.py")
