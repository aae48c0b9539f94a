"""A web server on this machine that misbehaves on request: each request takes the next trick of its list."""

import contextlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """What is served, and how. A trick is a name below; when the list is used up, requests are answered properly."""

    content: bytes
    tricks: list[str] = field(default_factory=list)
    asked: list[str | None] = field(default_factory=list)  # the Range of every request
    over: threading.Event = field(default_factory=threading.Event)
    url: str = ""


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def log_message(self, *_):
        pass

    def do_GET(self):
        site = self.site
        wanted = self.headers.get("Range")
        site.asked.append(wanted)
        trick = site.tricks.pop(0) if site.tricks else "fine"
        obeyed = wanted and trick not in ("ignores range", "garbage")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if obeyed else 0
        if trick.isdigit():
            return self.send_error(int(trick))
        if start >= len(site.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(site.content)}")
            return self.end_headers()
        body = {"garbage": b"<html>Please log in</html>" * 999, "other size": site.content + b"more"}.get(
            trick, site.content
        )
        self.send_response(206 if start else 200)
        if start:
            begin = start + 5 if trick == "wrong start" else start
            self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
        if trick not in ("no length", "ends without length"):
            self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        half = start + (len(body) - start) // 2
        if trick in ("cuts off", "ends without length"):
            self.wfile.write(body[start:half])
        elif trick == "stalls":
            self.wfile.write(body[start:half])
            self.wfile.flush()
            site.over.wait(10)
        elif trick == "hangs up":
            pass
        elif trick == "flips a byte":
            self.wfile.write(body[start:half] + bytes([body[half] ^ 255]) + body[half + 1 :])
        else:
            self.wfile.write(body[start:])
        return None


@contextlib.contextmanager
def serving(content: bytes, *tricks: str):
    """A Site with its address."""
    site = Site(content, list(tricks))
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    site.url = f"http://127.0.0.1:{server.server_port}/HIGGS.csv.gz"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
