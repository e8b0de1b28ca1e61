"""Parses Swift sources with tree-sitter: parse.py FOLDER...

It prints each place that is no Swift, and fails if there is one, or no source.
"""

import pathlib
import sys

import tree_sitter
import tree_sitter_swift


def wrong(node):
    """Yields the smallest nodes in and below a node that are errors."""
    if node.is_missing or node.is_error and not any(c.has_error for c in node.children):
        yield node
    elif node.has_error:
        for child in node.children:
            yield from wrong(child)


def main(*folders):
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_swift.language()))
    files = sorted(f for folder in folders for f in pathlib.Path(folder).rglob("*.swift"))
    failed = not files

    for file in files:
        for node in wrong(parser.parse(file.read_bytes()).root_node):
            row, column = node.start_point
            print(f"{file}:{row + 1}:{column + 1}: no Swift: {node.text.decode()[:80]!r}")
            failed = True

    if failed:
        sys.exit(f"{len(files)} sources in {' '.join(folders)} are not all Swift")

    print(f"tree-sitter parses the {len(files)} Swift sources")


main(*sys.argv[1:])
