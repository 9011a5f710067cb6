"""workerd and esbuild are installed once, whole, and by whichever npm is there."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from runtime.host.errors import CelldError
from runtime.javascript import npm_client, tool_install
from runtime.javascript.pins import ESBUILD_VERSION, PINS, WORKERD_VERSION
from runtime.javascript.system import CACHE_VARIABLE, this_system
from runtime.javascript.tools import Tools, find_tools
from tests.javascript.fake_npm import INSTALLS, FakeNpm

ROOT = Path(__file__).parent.parent.parent
FIND = "from runtime.javascript.tools import find_tools; find_tools(None, print)"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, on a machine without node."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(npm_client, "find_spec", lambda name: None)
    return folder


@pytest.fixture
def npm(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNpm:
    """An npm that installs, on the PATH."""
    fake = FakeNpm(tmp_path / "bin")
    fake.does(INSTALLS)
    monkeypatch.setenv("PATH", str(fake.folder))
    return fake


@pytest.fixture
def real_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache for the real packages, gone after the test: pytest would keep it, and it is large."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    yield tmp_path / "cache"
    shutil.rmtree(tmp_path / "cache")


def refused(note: Callable[[str], None] = lambda text: None) -> CelldError:
    with pytest.raises(CelldError) as raised:
        find_tools(None, note)
    return raised.value


def test_both_programs_are_installed_and_the_person_is_told_once(cache: Path, npm: FakeNpm) -> None:
    notes: list[str] = []

    tools = find_tools(None, notes.append)

    assert subprocess.check_output([tools.workerd], text=True) == "it runs\n"
    assert subprocess.check_output([tools.esbuild], text=True) == "it runs\n"
    assert len(notes) == 2
    assert WORKERD_VERSION in notes[0] and ESBUILD_VERSION in notes[0] and str(cache) in notes[0]
    assert "are installed" in notes[1]


def test_the_next_start_finds_what_is_installed(npm: FakeNpm) -> None:
    notes: list[str] = []

    first = find_tools(None, lambda text: None)
    second = find_tools(None, notes.append)

    assert second == first
    assert notes == []
    assert len(npm.calls) == 1


def test_npm_gets_the_pinned_hashes_and_no_addresses(npm: FakeNpm) -> None:
    find_tools(None, lambda text: None)

    [call] = npm.calls
    packages = {place: package for place, package in call["lock"]["packages"].items() if place}
    assert packages == {
        f"node_modules/{pin.package}": {"version": pin.version, "integrity": pin.integrity}
        for pin in PINS[this_system()]
    }


def test_npm_runs_no_scripts_of_packages(npm: FakeNpm) -> None:
    find_tools(None, lambda text: None)

    assert npm.calls[0]["arguments"][0] == "ci"
    assert "--ignore-scripts" in npm.calls[0]["arguments"]


def test_a_program_that_someone_took_out_of_the_cache_is_installed_again(npm: FakeNpm) -> None:
    tools = find_tools(None, lambda text: None)
    tools.esbuild.unlink()

    assert find_tools(None, lambda text: None) == tools
    assert tools.esbuild.exists()


def test_a_second_start_at_the_same_time_waits_for_the_first(npm: FakeNpm) -> None:
    npm.does("wait_for('go')\n" + INSTALLS)
    started = Event()
    notes: list[str] = []

    def waiting(text: str) -> None:
        notes.append(text)
        npm.let("go")

    with ThreadPoolExecutor() as threads:
        first = threads.submit(find_tools, None, lambda text: started.set())
        started.wait()
        second = threads.submit(find_tools, None, waiting)

    assert first.result() == second.result()
    assert len(npm.calls) == 1
    assert notes == ["Another celld-py is installing workerd and esbuild; waiting for it"]


def test_a_start_that_is_killed_half_way_leaves_nothing_that_looks_complete(cache: Path, npm: FakeNpm) -> None:
    npm.does("put(['workerd'])\nos.kill(os.getppid(), signal.SIGKILL)\nwait_for('go')\n(here / 'ended').touch()")
    killed = subprocess.run([sys.executable, "-c", FIND], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
    assert killed.returncode == -9
    assert [path.name for path in cache.iterdir() if path.is_dir() and not path.name.endswith(".partial")] == []

    npm.does("assert (here / 'ended').exists()\n" + INSTALLS)  # the npm of the killed start writes as long as it lives
    notes: list[str] = []

    def waiting(text: str) -> None:
        notes.append(text)
        npm.let("go")

    tools = find_tools(None, waiting)

    assert tools.workerd.exists() and tools.esbuild.exists()
    assert notes[0].startswith("Another celld-py is installing")
    assert sorted(path.name for path in cache.iterdir()) == ["install.lock", tools.workerd.relative_to(cache).parts[0]]


def test_without_any_npm_the_ways_to_get_one_are_named(cache: Path) -> None:
    error = refused()

    assert error.code == "tools_no_npm"
    assert "Install Node.js" in str(error.hint) and "pip install 'celld-py[js]'" in str(error.hint)


def test_a_failed_npm_is_quoted_with_its_last_lines(cache: Path, npm: FakeNpm) -> None:
    npm.does("for line in range(100): print('line', line, flush=True)\nsys.exit('npm error: no network')")

    error = refused()

    assert error.code == "tools_npm_failed"
    assert str(error.detail).splitlines()[0] == f"{npm.folder}/npm:"
    assert str(error.detail).splitlines()[-2:] == ["line 99", "npm error: no network"]
    assert len(str(error.detail).splitlines()) == 1 + npm_client.LAST_WORDS
    assert [path.name for path in cache.iterdir()] == ["install.lock"]


def test_other_contents_than_the_pinned_ones_are_called_so(npm: FakeNpm) -> None:
    npm.does("sys.exit('npm error code EINTEGRITY')")

    error = refused()

    assert error.code == "tools_integrity"
    assert "nothing was installed" in error.message


@pytest.mark.parametrize(
    "does", ["", "put(['esbuild'])", "put()\nfor f in pathlib.Path().rglob('p*e.json'): f.write_text('{}')"]
)
def test_an_npm_that_says_all_is_well_is_not_believed(cache: Path, npm: FakeNpm, does: str) -> None:
    npm.does(does)

    error = refused()

    assert error.code == "tools_npm_failed"
    assert f"did not install {PINS[this_system()].workerd.package}@{WORKERD_VERSION}" in str(error.detail)
    assert "version 7 or newer" in str(error.hint)


def test_an_npm_that_cannot_be_started_is_an_npm_that_failed(npm: FakeNpm) -> None:
    (npm.folder / "npm").write_text("#!/nonexistent/node\n")

    assert refused().code == "tools_npm_failed"


def test_an_npm_that_hangs_is_given_up(npm: FakeNpm, monkeypatch: pytest.MonkeyPatch) -> None:
    npm.does("wait_for('never')")
    monkeypatch.setattr(npm_client, "SIGN_OF_LIFE", 0.05)
    monkeypatch.setattr(npm_client, "PATIENCE", 0.15)
    notes: list[str] = []

    error = refused(notes.append)

    assert "has not ended within" in str(error.detail)
    assert sum(text.startswith("Still installing") for text in notes) == 3


def test_the_packaged_npm_takes_over_when_the_machines_is_too_old(
    npm: FakeNpm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm.does("sys.exit('npm error: I am npm 5')")
    packaged = FakeNpm(tmp_path / "packaged")
    packaged.does(INSTALLS)
    both = [npm_client.Client("npm", (f"{fake.folder}/npm",)) for fake in (npm, packaged)]
    monkeypatch.setattr(npm_client, "clients", lambda: both)

    find_tools(None, lambda text: None)

    assert len(npm.calls) == len(packaged.calls) == 1


@pytest.mark.parametrize("script", ["#!/bin/sh\necho GLIBC_2.99 not found; exit 1\n", "#!/nonexistent/loader\n"])
def test_programs_that_do_not_run_here_are_not_kept(cache: Path, npm: FakeNpm, script: str) -> None:
    npm.does(f"put(script={script!r})")

    error = refused()

    assert error.code == "tools_do_not_run"
    assert error.message.startswith(f"workerd {WORKERD_VERSION} was installed, but does not run")
    assert "GLIBC_2.99 not found" in str(error.detail) or "No such file" in str(error.detail)
    assert [path.name for path in cache.iterdir()] == ["install.lock"]


def test_a_cache_that_cannot_be_written_is_named(cache: Path, npm: FakeNpm) -> None:
    cache.write_text("a file, where the folder should be")

    error = refused()

    assert error.code == "tools_cache"
    assert str(cache) in error.message
    assert CACHE_VARIABLE in str(error.hint)


@pytest.mark.skipif(sys.platform != "linux", reason="the C library is Linux's question")
def test_without_glibc_nothing_is_installed(npm: FakeNpm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_install, "has_glibc", lambda: False)

    error = refused()

    assert error.code == "tools_unsupported"
    assert "glibc" in error.message
    assert npm.calls == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("client", npm_client.clients(), ids=lambda client: Path(client.name).name.replace(" ", "-"))
def test_the_real_packages_install_into_an_empty_cache(
    tools: Tools, client: npm_client.Client, real_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(npm_client, "clients", lambda: [client])
    try:
        installed = find_tools(None, print)
    except CelldError as error:
        if error.code == "tools_npm_failed" and os.environ.get("CELLD_PY_REQUIRE_WORKERD") != "1":
            pytest.skip(f"{error.message} {error.detail}")
        raise

    assert all(filecmp.cmp(*pair, shallow=False) for pair in zip(installed, tools, strict=True))


@pytest.mark.timeout(600)
def test_npm_refuses_packages_with_another_hash(
    tools: Tools, real_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not npm_client.clients():
        pytest.skip("there is no npm")
    real = PINS[this_system()]
    other = real._replace(esbuild=real.esbuild._replace(integrity=real.workerd.integrity))
    monkeypatch.setitem(PINS, this_system(), other)

    error = refused(print)

    if error.code == "tools_npm_failed" and os.environ.get("CELLD_PY_REQUIRE_WORKERD") != "1":
        pytest.skip(f"{error.message} {error.detail}")
    assert error.code == "tools_integrity"
    assert not list(real_cache.rglob("esbuild"))
