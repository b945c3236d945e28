"""The findings of a board: kept by id, previewed, written into its config, and taken back."""

import hashlib
import json
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pegboard.board.passage import traces_of
from pegboard.config import Config
from pegboard.config.blocks import block, table_text, with_block, without_block
from pegboard.errors import ConfigError, nearest
from pegboard.insight.offer import Offer
from pegboard.insight.propose import Proposal, propose
from pegboard.insight.propose.cases import Case, cases
from pegboard.insight.propose.python import python_source
from pegboard.trace.importers import Skipped, read
from pegboard.trace.record import Run

if TYPE_CHECKING:
    from pegboard.store import Store
    from pegboard.store.findings import KeptFinding

CASES = "pegboard-cases"
"""The folder beside the config with recorded cases for `pegboard test`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What applying a finding would write.

    Parameters:
        proposal: the tables.
        config: the text that the config gets, in its marked block.
        files: other files by their paths relative to the config's folder.
        cases: recorded examples of what the new tool replaces.
    """

    proposal: Proposal
    config: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    cases: tuple[Case, ...] = ()


class Findings:
    """The findings of one board.

    Parameters:
        config: the board's config; its store keeps the findings.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def all(self) -> "list[KeptFinding]":
        """Every finding that is kept, in report order."""
        with self._store() as store:
            return store.findings()

    def keep(self, rows: Iterable[Mapping[str, Any]], sources: Sequence[Path] = ()) -> None:
        """Keep the findings of a report, in the place of the last report on the same sources.

        Parameters:
            rows: the findings as plain data.
            sources: the files that they were found in; none: the board's own traces.
        """
        from pegboard.store.findings import KeptFinding

        places = tuple(str(path.resolve()) for path in sources)
        now = time.time()
        with self._store() as store:
            store.save_findings(KeptFinding(id=str(row["id"]), row=row, seen=now, sources=places) for row in rows)

    def find(self, id: str) -> "KeptFinding":
        """The finding of an id, or of a beginning of one that no other has.

        Raises:
            ConfigError: there is none.
        """
        kept = self.all()
        found = [each for each in kept if each.id == id] or [each for each in kept if each.id.startswith(id)]
        if len(found) == 1:
            return found[0]
        near = [each.id for each in found] or nearest(id, [each.id for each in kept])
        step = f"Did you mean {' or '.join(near[:4])}?" if near else "Find some first: pegboard insight [SOURCES...]"
        raise ConfigError(f"There is no finding {id!r}.", where="insight", next_step=step)

    def draft(self, finding: "KeptFinding", offer: Offer, *, name: str | None = None, python: bool = False) -> Draft:
        """What applying a finding would write; nothing is written.

        Parameters:
            finding: the finding.
            offer: the tools of the board, without what this finding itself has put there.
            name: the new tool's name.
            python: write the tools as a Python module instead of tables.
        """
        others = [each.row for each in self.all() if each.sources == finding.sources]
        own = finding.applied.get("tools", ()) if finding.applied else ()
        offer = Offer(tuple(spec for spec in offer.specs if str(spec.name) not in own))
        proposal = propose(finding.row, others, offer, name=name)
        if proposal.refused:
            return Draft(proposal=proposal)
        found = tuple(cases(proposal, finding.row, self.runs_of(finding)))
        files = {f"{CASES}/{proposal.tool}.json": _cases_text(proposal, found)} if found and proposal.tool else {}
        comment = _comment(finding.row)
        if python and proposal.tool:
            module = "insight_" + finding.id.replace("-", "_")
            files[f"{module}.py"] = python_source(proposal, comment)
            tables = [table_text("sources", module, {"python": module, "prefix": ""})]
        else:
            tables = [table_text(piece.kind, piece.name, piece.table) for piece in proposal.pieces]
        return Draft(proposal=proposal, config=block(finding.id, comment, tables), files=files, cases=found)

    def apply(self, finding: "KeptFinding", draft: Draft) -> list[str]:
        """Write a draft, and remember it.

        Returns:
            The files that were written.

        Raises:
            ConfigError: the config would not be valid, or a file of this name is there and is somebody else's.
        """
        file, folder = self._file(), self._config.folder
        text = with_block(_text(file), finding.id, draft.config, folder)
        known = cast("Mapping[str, str]", (finding.applied or {}).get("files", {}))
        for path in draft.files:
            if (folder / path).exists() and not _ours(folder / path, known.get(path)):
                raise ConfigError(
                    "There is a file of this name already, and it was not written by insight.",
                    where=path,
                    next_step="Move it away, or choose another name with --name.",
                )
        for path, content in draft.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content, "utf-8")
        file.write_text(text, "utf-8")
        with self._store() as store:
            store.mark_finding(finding.id, _applied(draft))
        return [str(file), *draft.files]

    def undo(self, finding: "KeptFinding") -> list[str]:
        """Take back what was written for a finding; files that were changed since stay, and are named.

        Returns:
            What was not taken back, and why.

        Raises:
            ConfigError: nothing was written for it.
        """
        if finding.applied is None:
            raise ConfigError(f"{finding.id} is not applied.", where="insight", next_step="There is nothing to undo.")
        file, folder = self._file(), self._config.folder
        before = _text(file)
        after = without_block(before, finding.id)
        left = [] if after != before else [f"{file}: the block is not there any more."]
        if after != before:
            file.write_text(after, "utf-8")
        for path, digest in cast("Mapping[str, str]", finding.applied.get("files", {})).items():
            if _ours(folder / path, digest):
                (folder / path).unlink()
            elif (folder / path).exists():
                left.append(f"{path}: it was changed since, so it stays.")
        with self._store() as store:
            store.mark_finding(finding.id, None)
        return left

    def runs_of(self, finding: "KeptFinding") -> Iterator[Run]:
        """The runs that a finding was found in, its examples first; none where the traces are gone."""
        wanted = set(map(str, finding.row.get("examples", ())))
        late: list[Run] = []
        for run in self._traces(finding.sources):
            if run.id in wanted:
                yield run
            elif len(late) < _MOST_LATE:
                late.append(run)
        yield from late

    def _traces(self, sources: Sequence[str]) -> Iterator[Run]:
        if not sources:
            own = traces_of(self._config)
            yield from own.scan() if own is not None else ()
            return
        from pegboard.insight.mine import files

        present = [Path(source) for source in sources if Path(source).exists()]
        for path in files(present):
            yield from (item for item in read(path) if not isinstance(item, Skipped))

    def _file(self) -> Path:
        if self._config.path is None:
            raise ConfigError("This board has no config file to write into.", where="insight")
        return self._config.path / "pegboard.toml" if self._config.path.is_dir() else self._config.path

    @contextmanager
    def _store(self) -> "Generator[Store]":
        from pegboard.store import Store

        location = self._config.board.store
        if location == ":memory:":
            raise ConfigError(
                "This board keeps nothing between runs, so it has no findings.",
                where="board.store",
                next_step="Give it a folder there.",
            )
        with Store.open(location, keep_days=self._config.board.keep_days) as store:
            yield store


_MOST_LATE = 2000


def _text(file: Path) -> str:
    return file.read_text("utf-8") if file.exists() else ""


def _ours(path: Path, digest: str | None) -> bool:
    return path.exists() and digest is not None and _digest(path.read_text("utf-8")) == digest


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _applied(draft: Draft) -> dict[str, Any]:
    proposal = draft.proposal
    return {
        "when": time.time(),
        "tool": proposal.tool,
        "tools": [piece.name for piece in proposal.pieces if piece.makes_a_tool],
        "replaces": [list(chain) for chain in proposal.replaces],
        "files": {path: _digest(text) for path, text in draft.files.items()},
    }


def _comment(row: Mapping[str, Any]) -> list[str]:
    saving = row.get("saving", {})
    saves = f" In these traces it would have saved {saving['calls']} calls." if saving.get("calls") else ""
    return [str(row.get("reason", "")) + saves]


def _cases_text(proposal: Proposal, found: Sequence[Case]) -> str:
    rows = [case.to_json() for case in found]
    document = {"tool": proposal.tool, "finding": proposal.finding, "cases": rows}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
