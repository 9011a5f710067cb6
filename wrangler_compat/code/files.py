"""Which files a Worker is made of: its main module and what that imports from the project itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from wrangler_compat.code import nodes
from wrangler_compat.code.module import JAVASCRIPT, PYTHON, Module

MAX_FILES = 2_000  # a project with more is not read to the end
FOREIGN = {"node_modules", "python_modules", "site-packages", "__pycache__"}
_ENDINGS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_TYPESCRIPT = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}


class Files:
    """The modules of one Worker by path. Only files under ``root`` are read, and no packages."""

    def __init__(self, main: Path, root: Path) -> None:
        self.main = _clean(main)
        self.root = _clean(root)
        self.modules: dict[Path, Module] = {}
        self.complete = True
        self._read_all()

    def _read_all(self) -> None:
        pending = [self.main]
        while pending:
            path = pending.pop()
            if path in self.modules:
                continue
            if len(self.modules) == MAX_FILES:
                self.complete = False
                return
            module = self.modules[path] = Module(path)
            pending.extend(target for node in module.root.walk() for target in self.targets(module, node))

    def targets(self, module: Module, node: nodes.Node) -> Iterator[Path]:
        """The project's files that a node brings in."""
        match node:
            case nodes.Import() if module.language == "python":
                for name in _python_names(node):
                    yield from self._python(module, node, name)
            case nodes.Import(module=specifier) | nodes.Export(module=str() as specifier):
                yield from self._script(module, specifier)
            case nodes.Call(callee=nodes.Name(id="require"), args=(nodes.Literal(value=str() as specifier), *_)):
                yield from self._script(module, specifier)
            case nodes.Call(callee=nodes.Other(), args=(nodes.Literal(value=str() as specifier),)):
                if module.language == "javascript" and module.source(node).startswith("import"):
                    yield from self._script(module, specifier)

    def of_import(self, module: Module, node: nodes.Import | nodes.Export) -> Module | None:
        """The project's own module that an import names, if it is one."""
        if isinstance(node, nodes.Import) and module.language == "python":
            found = next(self._python(module, node, None), None)
        else:
            found = next(self._script(module, node.module or ""), None)
        return self.modules.get(found) if found else None

    def of_submodule(self, module: Module, node: nodes.Import, name: str) -> Module | None:
        """The module that ``from package import name`` brings in."""
        found = next(self._python(module, node, name), None) if module.language == "python" else None
        return self.modules.get(found) if found else None

    def _python(self, module: Module, node: nodes.Import, name: str | None) -> Iterator[Path]:
        # The import root is the folder of the main module; dots count from the file's own folder.
        base = self.main.parent
        if node.level:
            base = module.path.parent
            for _ in range(node.level - 1):
                base = base.parent
        parts = [part for part in node.module.split(".") if part]
        target = base.joinpath(*parts, *([name] if name else []))
        yield from self._own([target.with_name(target.name + ".py")] if target.name else [], PYTHON)
        yield from self._own([target / "__init__.py"], PYTHON)

    def _script(self, module: Module, specifier: str) -> Iterator[Path]:
        if not specifier.startswith("."):
            return
        target = _clean(module.path.parent / specifier)
        others = [target.with_suffix(ending) for ending in _TYPESCRIPT.get(target.suffix, ())]
        added = [target.with_name(target.name + ending) for ending in _ENDINGS]
        indexes = [target / f"index{ending}" for ending in _ENDINGS]
        yield from list(self._own([target, *others, *added, *indexes], JAVASCRIPT))[:1]

    def _own(self, candidates: list[Path], suffixes: set[str]) -> Iterator[Path]:
        for path in candidates:
            if path.suffix not in suffixes or not path.is_relative_to(self.root):
                continue
            folders = path.relative_to(self.root).parts[:-1]
            if not any(part in FOREIGN or part.startswith(".") for part in folders) and path.is_file():
                yield path


def _python_names(node: nodes.Import) -> Iterator[str | None]:
    yield None
    yield from (name for name, _ in node.names if name != "*")


def _clean(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))
