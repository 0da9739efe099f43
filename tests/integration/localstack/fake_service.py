"""A service that is ready at once, says so on JOBLEDGER_PORT, and ends when asked to."""

import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Ready(BaseHTTPRequestHandler):
    """Answers every GET with 200 and a lag."""

    def do_GET(self) -> None:
        body = b'{"ready": true, "parts": {"loop": {"ready": true, "lag": 3}}}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if "ill" in sys.argv:
        sys.exit("cannot start: this is the reason")
    HTTPServer(("127.0.0.1", int(os.environ["JOBLEDGER_PORT"])), Ready).serve_forever()
