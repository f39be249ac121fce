"""An endpoint for tests: a real HTTP server in a thread that answers as it is told."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def completion(text, model="gpt-4o-2024-08-06", finish="stop", usage=(1000, 200), **more) -> bytes:
    """A body in OpenAI's form."""
    counted = usage and {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": model, "choices": [choice]}
    return json.dumps({**body, "usage": counted, **more}).encode()


def fault(message: str, code: str | None = None) -> bytes:
    return json.dumps({"error": {"message": message, "type": "t", "param": None, "code": code}}).encode()


Answer = Callable[[BaseHTTPRequestHandler, dict], None]


def answer(status: int, body: bytes, **headers: str) -> Answer:
    def give(handler: BaseHTTPRequestHandler, _: dict) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return give


class TestEndpoint:
    """Gives the answers one after the other, the last again and again; keeps what it was asked."""

    __test__ = False

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[dict] = []
        self.headers: list[dict[str, str]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.asked.append(asked)
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                give = endpoint.answers.pop(0) if len(endpoint.answers) > 1 else endpoint.answers[0]
                give(self, asked)

            def do_GET(self) -> None:
                models = [{"id": name, "object": "model", "created": 0, "owned_by": "x"} for name in ("small", "large")]
                answer(200, json.dumps({"object": "list", "data": models}).encode())(self, {})

            def log_message(self, *_) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.root = f"http://127.0.0.1:{self._server.server_port}"
        self.url = f"{self.root}/v1"

    def __enter__(self) -> "TestEndpoint":
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()
