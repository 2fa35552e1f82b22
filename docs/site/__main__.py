"""Build the site: ``python docs/site``. No network, no warning, no broken link, or it fails.

``--check`` does the same in `build/docs-check` without running the examples.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

from gallery import do_not_run, run_once
from links import broken_in_html, broken_in_markdown
from paths import HERE, ROOT, SITE, pages
from sphinx.cmd.build import main as sphinx_build
from stage import stage


def main() -> int:
    """Stage, build, check."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="do not run the examples")
    is_check = parser.parse_args().check
    site = SITE.with_name("docs-check") if is_check else SITE
    source = stage(do_not_run if is_check else run_once)
    return build(source, site)


def build(source: Path, site: Path) -> int:
    """Make HTML of the staged pages and look at every link; 0 if all is well."""
    doctrees = site.with_name(f"{site.name}-doctrees")
    options = ["-E", "-a", "-W", "-n", "--keep-going", "-q", "-c", str(HERE), "-d", str(doctrees)]
    status = sphinx_build([*options, "-b", "html", str(source), str(site)])
    if status:
        return status
    built = sorted(site.rglob("*.html"))
    broken = [(page, link) for page in pages() for link in broken_in_markdown(page)]
    broken += [(page, link) for page in built for link in broken_in_html(page)]
    for page, link in broken:
        print(f"{page.relative_to(ROOT)}: {link} leads nowhere", file=sys.stderr)
    print(f"{len(built)} pages, {len(broken)} broken links: {site / 'index.html'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
