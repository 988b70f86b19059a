"""What is recorded: small projects with a real fault each, and what a person types there."""
# ruff: noqa: E501  small programs stand on few lines

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Scenario:
    folder: str
    commands: Sequence[str]
    files: Mapping[str, str] = field(default_factory=dict)
    before: Sequence[str] = ()


_CART = """import logging
import warnings

log = logging.getLogger("cart")


def total(prices, discount=0):
    warnings.warn("total() takes cents from 3.0 on", DeprecationWarning)
    log.error("price list error: using the cached one")
    return sum(prices) * (100 - discount) // 10
"""
_CART_TEST = """from cart import total


def test_empty():
    assert total([]) == 0


def test_discount():
    assert total([100, 150], discount=10) == 225
"""
_LIST_C = """#include <stdio.h>
#include <string.h>

static int longest(char **words, int n) {
    int unused;
    size_t best = 0;
    for (int i = 0; i < n; i++) {
        if (strlen(words[i]) > best)
            best = strlen(words[i]);
    }
    return bst;
}

int main(int argc, char **argv) {
    unsigned count = argc;
    for (int i = 0; i < count; i++)
        printf("%s\\n", argv[i]);
    printf("%d\\n", longest(argv, argc));
}
"""
_GIT = (
    "git config --global user.name Dev; git config --global user.email dev@example.org;"
    "git config --global init.defaultBranch main; git config --global advice.detachedHead false"
)

SCENARIOS: dict[str, Scenario] = {
    "pytest": Scenario(
        "shop",
        ["ls", "pytest", "git status"],
        {"cart.py": _CART, "test_cart.py": _CART_TEST},
    ),
    "pytest_collection": Scenario(
        "shop",
        ["pytest -x -q"],
        {"cart.py": _CART, "test_cart.py": _CART_TEST.replace("from cart", "from basket")},
    ),
    "gcc": Scenario("words", ["gcc -Wall -Wextra -o list list.c", "ls"], {"list.c": _LIST_C}),
    "linker": Scenario(
        "words",
        ["gcc -c main.c", "gcc -o main main.o"],
        {"main.c": "int helper(int);\nint main(void) { return helper(3); }\n"},
    ),
    "make": Scenario(
        "words",
        ["make"],
        {
            "Makefile": "all: list report\n\nlist: list.c\n\tgcc -Wall -o list list.c\n\nreport:\n\techo report\n",
            "list.c": _LIST_C,
        },
    ),
    "make_rule": Scenario("words", ["make instal"], {"Makefile": "install:\n\techo installed\n"}),
    "npm_script": Scenario(
        "site", ["npm run biuld", "ls"], {"package.json": '{"name": "site", "scripts": {"build": "node build.js"}}\n'}
    ),
    "npm_test": Scenario(
        "site",
        ["npm test"],
        {
            "package.json": '{"name": "site", "version": "1.0.0", "scripts": {"test": "node --test"}}\n',
            "slug.js": "exports.slug = (text) => text.toLowerCase().replace(' ', '-')\n",
            "slug.test.js": "const test = require('node:test'); const assert = require('node:assert')\n"
            "const { slug } = require('./slug')\n"
            "test('one word', () => assert.strictEqual(slug('Error'), 'error'))\n"
            "test('three words', () => assert.strictEqual(slug('A b c'), 'a-b-c'))\n",
        },
    ),
    "node": Scenario(
        "site",
        ["node render.js", "node --version"],
        {
            "render.js": "function title(page) {\n  return page.meta.title.trim()\n}\n\nconst pages = [{ meta: { title: 'a' } }, {}]\n"
            "for (const page of pages) console.log(title(page))\n",
        },
    ),
    "node_port": Scenario(
        "site",
        ["node server.js & sleep 1", "node server.js", "kill %1"],
        {"server.js": "const http = require('http')\nhttp.createServer().listen(38117, '127.0.0.1')\n"},
    ),
    "python_port": Scenario(
        "site",
        [
            "python3 -m http.server --bind 127.0.0.1 38118 & sleep 1",
            "python3 -m http.server --bind 127.0.0.1 38118",
            "kill %1",
        ],
    ),
    "go_build": Scenario(
        "gate",
        ["go version > /dev/null", "go build ./..."],
        {
            "go.mod": "module example.org/gate\n\ngo 1.19\n",
            "main.go": 'package main\n\nimport "fmt"\n\nfunc main() {\n\tcount := 3\n\tfmt.Println(cuont)\n}\n',
        },
    ),
    "go_test": Scenario(
        "gate",
        ["go test ./..."],
        {
            "go.mod": "module example.org/gate\n\ngo 1.19\n",
            "gate.go": "package gate\n\nfunc Open(n int) bool { return n > 2 }\n",
            "gate_test.go": 'package gate\n\nimport "testing"\n\nfunc TestOpen(t *testing.T) {\n\tif !Open(2) {\n'
            '\t\tt.Errorf("Open(2) = false, want true")\n\t}\n}\n',
        },
    ),
    "go_panic": Scenario(
        "gate",
        ["go run ."],
        {
            "go.mod": "module example.org/gate\n\ngo 1.19\n",
            "main.go": 'package main\n\nimport "fmt"\n\nfunc pick(all []string, n int) string {\n\treturn all[n]\n}\n\n'
            'func main() {\n\tfmt.Println("starting")\n\tfmt.Println(pick([]string{"a", "b"}, 2))\n}\n',
        },
    ),
    "cargo": Scenario(
        "tally",
        ["cargo build --offline"],
        {
            "Cargo.toml": '[package]\nname = "tally"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/main.rs": "use std::collections::HashMap;\n\nfn count(words: &[String]) -> usize {\n    let spare = 1;\n    words.len()\n}\n\n"
            'fn main() {\n    let words = vec!["a", "b"];\n    println!("{}", count(&words));\n}\n',
        },
    ),
    "rust_panic": Scenario(
        "tally",
        ["rustc -A warnings main.rs", "./main 3 x", "ls"],
        {
            "main.rs": 'fn main() {\n    let sum: i32 = std::env::args().skip(1).map(|w| w.parse::<i32>().unwrap()).sum();\n    println!("{sum}");\n}\n'
        },
    ),
    "git_push": Scenario(
        "notes",
        ["git commit -q --allow-empty -m 'More notes'", "git push", "git log --oneline | head -3"],
        before=[
            _GIT,
            "rm -rf ../origin.git ../other && git init -q --bare ../origin.git && git clone -q ../origin.git . 2>&1",
            "git commit -q --allow-empty -m First && git push -q -u origin main && git clone -q ../origin.git ../other",
            "cd ../other && git commit -q --allow-empty -m Other && git push -q",
        ],
    ),
    "git_conflict": Scenario(
        "notes",
        ["git merge wording"],
        {"notes.txt": "one\n"},
        before=[
            _GIT,
            "git init -q . && git add . && git commit -q -m First",
            "git checkout -q -b wording && echo uno > notes.txt && git commit -q -am Wording",
            "git checkout -q main && echo ein > notes.txt && git commit -q -am German",
        ],
    ),
    "git_fatal": Scenario("plain", ["git status", "ls -la > /dev/null"]),
    "missing_file": Scenario(
        "shop", ["cat config/settings.yml | head -5; cat config/settings.yml", "ls"], {"cart.py": _CART}
    ),
    "permission": Scenario("shop", ["./deploy.sh staging"], {"deploy.sh": "#!/bin/sh\necho deploying\n"}),
    "not_found": Scenario("shop", ["kubeclt get pods", "ls"], {"cart.py": _CART}),
    "traceback": Scenario(
        "shop",
        ["python3 report.py orders.json", "ls"],
        {
            "report.py": "import json\nimport sys\n\n\ndef load(path):\n    with open(path) as file:\n        return json.load(file)\n\n\n"
            "def main():\n    try:\n        orders = load(sys.argv[1])\n    except OSError as error:\n        print('error:', error)\n"
            "        return\n    print(len(orders))\n\n\nmain()\n",
            "orders.json": '[{"id": 1, "total": 3},\n {"id": 2, "total": }]\n',
        },
    ),
    "lua": Scenario(
        "game",
        ["lua5.4 main.lua"],
        {
            "main.lua": "local world = require('world')\nprint('loading')\nworld.spawn({ name = 'wolf' })\n",
            "world.lua": "local M = {}\nfunction M.spawn(animal)\n  local x = animal.position.x + 1\n  print(animal.name, x)\nend\nreturn M\n",
        },
    ),
    "ruby": Scenario(
        "blog",
        ["ruby publish.rb"],
        {"publish.rb": "def slug(post)\n  post[:title].downcase\nend\n\nputs 'publishing'\nputs slug({ name: 'x' })\n"},
    ),
    "segfault": Scenario(
        "words",
        ["gcc -g -o walk walk.c", "./walk", "ls"],
        {"walk.c": '#include <stdio.h>\nint main(void) { int *p = 0; puts("walking"); fflush(stdout); return *p; }\n'},
    ),
    "killed": Scenario(
        "shop",
        ["python3 import_all.py"],
        {
            "import_all.py": "import os\nimport signal\n\nprint('importing 3,000,000 rows')\nos.kill(os.getpid(), signal.SIGKILL)\n",
        },
    ),
    "disk_full": Scenario(
        "backups",
        ["cp backup.bin usb/"],
        {"backup.bin": "x" * 200_000},
        before=["mkdir usb && mount -t tmpfs -o size=64k tmpfs usb"],
    ),
    "java": Scenario(
        "desk",
        ["java Desk.java"],
        {
            "Desk.java": "import java.util.*;\n\npublic class Desk {\n    static String owner(Map<String, String> desks, String id) {\n"
            "        return desks.get(id).toUpperCase();\n    }\n\n    public static void main(String[] arguments) {\n"
            '        System.out.println(owner(new HashMap<>(), "12"));\n    }\n}\n',
        },
    ),
    "perl": Scenario(
        "desk",
        ["perl -w tidy.pl"],
        {"tidy.pl": 'use strict;\nmy @rows = (1, 2);\nprint "rows: @rows\\n";\ndie "no row 3" unless $rows[3];\n'},
    ),
    "curl": Scenario("site", ["curl -sS http://127.0.0.1:38119/health", "ls"]),
    "interrupted": Scenario(
        "jobs",
        ["python3 -c 'import shopp'", "timeout -s INT 0.2 sleep 5", "bash -c 'kill -INT $$'", "grep -r TODO ."],
        {"cart.py": _CART},
    ),
    "unittest": Scenario(
        "shop",
        ["python3 -m unittest -v"],
        {
            "cart.py": _CART,
            "test_sum.py": "import unittest\nfrom cart import total\n\n\nclass Sums(unittest.TestCase):\n    def test_error_free(self):\n"
            "        self.assertEqual(total([]), 0)\n\n    def test_two(self):\n        self.assertEqual(total([1, 2]), 3)\n",
        },
    ),
    "python_syntax": Scenario(
        "shop", ["python3 cart.py", "ls"], {"cart.py": "def total(prices:\n    return sum(prices)\n"}
    ),
    "javac": Scenario(
        "desk", ["javac Desk.java"], {"Desk.java": "public class Desk {\n    int size() { return sizes; }\n}\n"}
    ),
    "cpp": Scenario(
        "words",
        ["g++ -Wall -o sort sort.cpp"],
        {
            "sort.cpp": "#include <algorithm>\n#include <list>\n#include <cstdio>\nint main() { std::list<int> all{3, 1};"
            " std::sort(all.begin(), all.end()); int spare; return 0; }\n"
        },
    ),
    "borrow": Scenario(
        "tally",
        ["rustc main.rs"],
        {"main.rs": 'fn main() {\n    let a = vec![1];\n    let b = a;\n    println!("{:?} {:?}", a, b);\n}\n'},
    ),
    "node_syntax": Scenario("site", ["node page.js"], {"page.js": "const page = {\n  title: 'a'\n  body: 'b'\n}\n"}),
    "node_module": Scenario(
        "site", ["node app.js"], {"app.js": "const express = require('express')\nexpress().listen(0)\n"}
    ),
    "npm_ci": Scenario("site", ["npm ci --offline"], {"package.json": '{"name": "site", "version": "1.0.0"}\n'}),
    "tar": Scenario("archive", ["tar xzf backup.tar.gz"], {"backup.tar.gz": "this is no archive\n"}),
    "script_line": Scenario(
        "shop",
        ["bash release.sh"],
        {"release.sh": "set -e\necho 'building 1.2'\nmkdir -p dist\ncp build/app dist/\necho done\n"},
    ),
    "ssh": Scenario("shop", ["ssh -o BatchMode=yes -p 38120 127.0.0.1 uptime"]),
    "option": Scenario("shop", ["ls --colour-all"]),
    "make_recipe": Scenario(
        "words",
        ["make -k release 2>&1"],
        {
            "Makefile": "release: check\n\ttar cf release.tar out\n\ncheck:\n\t@echo 'checking: 0 errors, 2 warnings'\n\t@echo 'warning: no tests' >&2\n"
        },
    ),
    "division": Scenario(
        "words",
        ["gcc -o mean mean.c", "./mean"],
        {"mean.c": "#include <assert.h>\nint main(int n, char **v) { assert(n > 1); return 10 / (n - 1); }\n"},
    ),
    "git_checkout": Scenario(
        "notes",
        ["git checkout feature/wording", "git branch"],
        {"notes.txt": "one\n"},
        before=[_GIT, "git init -q . && git add . && git commit -q -m First"],
    ),
    "java_cause": Scenario(
        "desk",
        ["java Import.java"],
        {
            "Import.java": "public class Import {\n    static int rows(String text) {\n        try {\n            return Integer.parseInt(text);\n"
            '        } catch (NumberFormatException error) {\n            throw new IllegalStateException("import failed", error);\n        }\n    }\n\n'
            '    public static void main(String[] arguments) {\n        System.out.println(rows("12x"));\n    }\n}\n'
        },
    ),
}
