"""Model servers of other projects on this machine, each with tiny models that recite what a test needs."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.serving import free_port
from toolsupport.core.types import Endpoint

HERE = Path(__file__).parent
PATIENCE = 60.0


@dataclass(frozen=True)
class Served:
    """A server that answers, and the name of one of its models."""

    url: str
    model: str
    kind: str = "openai"

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.kind, self.url)


@dataclass(frozen=True)
class Recited:
    """What a model says without tools, with tools, after a result, and where the tool of a test is on offer.

    The template is `hermes`, which declares tools, or `plain`, which leaves them out.
    """

    plain: str
    call: str
    final: str
    test: str = ""
    template: str = "hermes"


Models = Mapping[str, Recited]
Start = Callable[[ExitStack, Path, Models], dict[str, Served]]


@dataclass(frozen=True)
class Bench:
    """One kind of server. `python` has numpy and safetensors, to make the models with; `program` is the server's."""

    python: Path
    program: Path

    def mlx(self, stack: ExitStack, directory: Path, models: Models) -> dict[str, Served]:
        """mlx-lm: one process for each model."""
        started = {}
        for name, recited in models.items():
            model = self._made(directory / name / "model", recited)
            (directory / name / "cache" / "hub").mkdir(parents=True)
            environment = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(directory / name / "cache")}
            url = stack.enter_context(
                running(
                    [str(self.program), "-m", "mlx_lm", "server", "--model", str(model), "--host", "127.0.0.1"],
                    directory / name,
                    environment,
                )
            )
            started[name] = Served(url, str(model))
        return answering(started, "/v1/models")

    def llama_server(self, stack: ExitStack, directory: Path, models: Models, *more: str) -> dict[str, Served]:
        """llama.cpp: one process for each model."""
        started = {}
        for name, recited in models.items():
            file = self._gguf(directory / name, recited)
            command = [str(self.program), "-m", str(file), "--alias", name, "--host", "127.0.0.1", "--offline"]
            command += ["-c", "16384", "-np", "1", "-t", "1", *more]
            started[name] = Served(stack.enter_context(running(command, directory / name)), name, "llamacpp")
        return answering(started, "/health")

    def ollama(self, stack: ExitStack, directory: Path, models: Models) -> dict[str, Served]:
        """Ollama: one process for all models."""
        port = free_port()
        environment = {
            "OLLAMA_HOST": f"127.0.0.1:{port}",
            "OLLAMA_MODELS": str(directory / "models"),
            "OLLAMA_CONTEXT_LENGTH": "16384",
            "OLLAMA_NO_CLOUD": "1",
            "HOME": str(directory),
        }
        directory.mkdir(parents=True, exist_ok=True)
        url = stack.enter_context(running([str(self.program), "serve"], directory, environment, port))
        started = {name: Served(url, f"{name}:latest", "ollama") for name in models}
        answering(started, "/api/version")
        for name, recited in models.items():
            file = self._gguf(directory / name, recited)
            described = file.with_name("Modelfile")
            described.write_text(f"FROM {file}\nPARAMETER num_thread 1\n")
            command = [str(self.program), "create", name, "-f", str(described)]
            subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True)
        return started

    def _made(self, model: Path, recited: Recited) -> Path:
        scripts = [recited.plain, recited.call, recited.final, *filter(None, [recited.test])]
        command = [str(self.python), str(HERE / "tiny_model.py"), str(model.resolve()), recited.template, *scripts]
        subprocess.run(command, check=True)
        return model.resolve()

    def _gguf(self, directory: Path, recited: Recited) -> Path:
        file = directory.resolve() / "model.gguf"
        subprocess.run([self.python, HERE / "tiny_gguf.py", self._made(directory / "model", recited), file], check=True)
        return file


@contextmanager
def running(
    command: list[str], directory: Path, environment: Mapping[str, str] | None = None, port: int = 0
) -> Iterator[str]:
    """A server as a process of its own; gives its address. It takes `--port`, unless a port is given."""
    if not port:
        port = free_port()
        command = [*command, "--port", str(port)]
    environ = {**os.environ, **(environment or {})}
    with (
        (directory / "server.log").open("w") as log,
        subprocess.Popen(command, env=environ, stdout=log, stderr=log) as process,
    ):
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def answering(started: dict[str, Served], path: str) -> dict[str, Served]:
    """The same servers, once each of them answers."""
    with httpx.Client(transport=httpx.HTTPTransport(retries=8), timeout=PATIENCE, trust_env=False) as client:
        for server in started.values():
            given_up = time.monotonic() + PATIENCE
            # llama-server answers 503 while it loads its model.
            while (answer := client.get(f"{server.url}{path}")).status_code == 503 and time.monotonic() < given_up:
                pass
            answer.raise_for_status()
    return started
