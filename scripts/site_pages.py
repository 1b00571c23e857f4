"""What the documentation site has beyond the pages in docs/; mkdocs calls these functions.

- The gallery runs every file in examples/ and shows its text, code, output and picture. An example
  that fails, or draws nothing, ends the build.
- Pages of the root (CONTRIBUTING.md and others) are pages of the site too.
- Markdown is written as GitHub reads it, where a list may follow a line of text at once.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import runpy
import tempfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
ROOT_PAGES = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)]*)\)")
GLUED_LIST = re.compile(r"^(?!\s*(?:[-*]|\d+\.) |\s|\||#)(.+)\n(?=(?:[-*]|1\.) )", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root, and the pictures of the examples."""
    for name in ROOT_PAGES:
        text = LINK.sub(_inside, (ROOT / name).read_text(encoding="utf-8"))
        files.append(File.generated(config, name.lower(), content=text))
    shown = [_shown(example, files, config) for example in EXAMPLES]
    source = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    files.remove(next(file for file in files if file.src_uri == "gallery.md"))
    files.append(File.generated(config, "gallery.md", content=source + "\n" + "\n".join(shown)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put a blank line before lists that follow a line of text."""
    parts = FENCED.split(markdown)
    return "".join(
        part if part.startswith("```") else GLUED_LIST.sub(r"\1\n\n", part) for part in parts
    )


def _inside(link: re.Match[str]) -> str:
    """A link of a page of the root as the site has it; what is no page of it loses its link."""
    text, target = link[1], link[2]
    if target.startswith("docs/"):
        return f"[{text}]({target.removeprefix('docs/')})"
    name, _, place = target.partition("#")
    if name in ROOT_PAGES:
        return f"[{text}]({name.lower()}{'#' * bool(place)}{place})"
    return text


def _shown(example: Path, files: Files, config: MkDocsConfig) -> str:
    """An example as Markdown: what its docstring says, its code, what it prints and draws."""
    code = example.read_text(encoding="utf-8")
    tree = ast.parse(code)
    title, _, about = (ast.get_docstring(tree) or "").partition("\n")
    body = "\n".join(code.splitlines()[tree.body[0].end_lineno or 0 :]).strip()
    printed, picture = _run(example)
    name = f"images/gallery/{example.stem}.png"
    files.append(File.generated(config, name, content=picture))
    return (
        f"## {title.rstrip('.')}\n\n{about.strip()}\n\n![{title}]({name})\n\n"
        f"```python\n{body}\n```\n\n```text\n{printed.strip()}\n```\n"
    )


def _run(example: Path) -> tuple[str, bytes]:
    """What an example prints, and the one picture that it writes."""
    import matplotlib as mpl

    mpl.use("agg")
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        os.chdir(folder)
        try:
            runpy.run_path(str(example), run_name="__main__")
        finally:
            os.chdir(here)
        (picture,) = Path(folder).glob("*.png")
        return out.getvalue(), picture.read_bytes()
