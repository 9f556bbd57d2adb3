"""A server on 127.0.0.1 that keeps what is sent to it, answers what its `answer` says, and can pass requests on to a model's provider."""

import contextlib
import gzip
import http.server
import json
import threading
import time
import urllib.request
import zlib
from dataclasses import dataclass, field


@dataclass
class Exchange:
    """A request that came in, and what it got."""

    method: str
    path: str
    headers: dict
    body: bytes
    status: int = 200
    answer_headers: dict = field(default_factory=dict)
    answer: bytes = b"{}"
    began: float = 0.0
    seconds: float = 0.0

    @property
    def json(self):
        return json.loads(self.body)


def decoded(body, encoding):
    if encoding == "gzip":
        return gzip.decompress(body)
    if encoding == "deflate":
        return zlib.decompress(body)
    if encoding == "zstd":
        import zstandard

        return zstandard.ZstdDecompressor().decompressobj().decompress(body)
    return body


def pass_on(base):
    """Passes a request on to the server at `base`."""

    def answer(exchange):
        headers = {name: value for name, value in exchange.headers.items() if name.lower() not in ("host", "content-length", "accept-encoding", "connection")}
        request = urllib.request.Request(base + exchange.path, exchange.body or None, headers, method=exchange.method)
        with contextlib.suppress(urllib.error.HTTPError):
            with urllib.request.urlopen(request) as reply:
                exchange.status, exchange.answer = reply.status, reply.read()
                exchange.answer_headers = {"content-type": reply.headers["content-type"]}

    return answer


@contextlib.contextmanager
def recorder(answer=lambda exchange: None):
    """Gives the base URL and the list that the exchanges come into. `answer` sets what an exchange gets."""
    exchanges, lock = [], threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self):
            began = time.time()
            if self.headers.get("transfer-encoding") == "chunked":
                body = b""
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            else:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
            exchange = Exchange(self.command, self.path, dict(self.headers), decoded(body, self.headers.get("content-encoding")), began=began)
            answer(exchange)
            exchange.seconds = time.time() - began
            with lock:
                exchanges.append(exchange)
            self.send_response(exchange.status)
            for name, value in ({"content-type": "application/json"} | exchange.answer_headers).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(exchange.answer)))
            self.end_headers()
            self.wfile.write(exchange.answer)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_any

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", exchanges
    finally:
        server.shutdown()
