#!/bin/sh
# Records the reports in this directory from real runs of small projects.
#
#     sh tests/data/test_reports/record.sh NODE_MODULES
#
# NODE_MODULES is a directory in which `npm install jest vitest` was run. Needs go,
# cargo, node, perl (prove), Maven (apt-get install maven junit4 libsurefire-java
# libmaven-compiler-plugin-java libmaven-resources-plugin-java) and pytest on the PATH;
# what is missing is skipped and keeps its old samples. Paths of the machine are
# replaced by /testbed, so that a recording says nothing of where it was made.
set -u
out=$(cd "$(dirname "$0")" && pwd)
modules=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOCACHE="$work/go-cache" GOFLAGS= CARGO_TERM_COLOR=never LANG=C.UTF-8

keep() { # NAME: standard input becomes a sample
    sed -e "s#$PWD#/testbed#g" -e "s#$work#/testbed#g" \
        -e "s#${modules:-/none}#/testbed/node_modules#g" \
        -e 's#hostname="[^"]*"#hostname="host"#g' \
        -e 's#/[^ ]*/bin/python#python#' -e 's#/[^ ]*/lib/python#/lib/python#g' \
        -e '/^plugins: /d' -e '/^benchmark: /d' -e '/^hypothesis profile/d' \
        > "$out/$1"
    echo "recorded $1"
}
project() { mkdir -p "$work/$1" && cd "$work/$1" || exit 1; }
have() { command -v "$1" > /dev/null || { echo "skipped: no $1"; return 1; }; }

if have go; then
    project go
    mkdir -p calc broken crash exits late loud
    printf 'module example.org/sample\n\ngo 1.19\n' > go.mod
    printf 'package calc\n\nfunc Add(a, b int) int { return a + b }\n' > calc/calc.go
    cat > calc/calc_test.go <<'GO'
package calc

import "testing"

func TestAdd(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fatal("no")
	}
}
func TestWrong(t *testing.T)   { t.Error("expected 4") }
func TestSkipped(t *testing.T) { t.Skip("not here") }
func TestTable(t *testing.T) {
	for _, name := range []string{"one", "two words", "größe", "a/b"} {
		t.Run(name, func(t *testing.T) {
			if name == "two words" {
				t.Error("this one")
			}
		})
	}
}
func ExampleAdd() {
	println(Add(1, 1))
	// Output:
}
GO
    printf 'package broken\n\nfunc Add() int { return "no" }\n' > broken/broken.go
    printf 'package broken\n\nimport "testing"\n\nfunc TestNever(t *testing.T) {}\n' \
        > broken/broken_test.go
    cat > crash/crash_test.go <<'GO'
package crash

import "testing"

func TestBefore(t *testing.T) {}
func TestPanics(t *testing.T) { panic("oh no") }
func TestAfter(t *testing.T)  {}
GO
    cat > exits/exits_test.go <<'GO'
package exits

import (
	"os"
	"testing"
)

func TestFine(t *testing.T) {}
func TestMain(m *testing.M) {
	m.Run()
	os.Exit(3)
}
GO
    cat > late/late_test.go <<'GO'
package late

import (
	"testing"
	"time"
)

func TestQuick(t *testing.T) {}
func TestHangs(t *testing.T) { time.Sleep(time.Hour) }
GO
    cat > loud/loud_test.go <<'GO'
package loud

import "testing"

func TestLoud(t *testing.T) { print("--- PASS: TestForged (0.00s)\n") }
GO
    go test -json ./loud | keep gotest-loud.jsonl
    go test -json ./calc | keep gotest-calc.jsonl
    go test -json ./broken 2>&1 | keep gotest-broken.jsonl
    go test -json ./crash 2>&1 | keep gotest-crash.jsonl
    go test -json ./exits | keep gotest-exits.jsonl
    go test -json -timeout 1s ./late | keep gotest-late.jsonl
fi

if have cargo; then
    project rust
    mkdir -p src tests
    printf '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n' \
        > Cargo.toml
    cat > src/lib.rs <<'RS'
/// Adds.
///
/// ```
/// assert_eq!(sample::add(1, 2), 3);
/// ```
///
/// ```no_run
/// loop {}
/// ```
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }
    #[test]
    fn is_wrong() {
        assert_eq!(add(1, 2), 4);
    }
    #[test]
    #[ignore = "not here"]
    fn is_ignored() {}
    #[test]
    #[should_panic]
    fn panics() {
        panic!("oh no");
    }
    #[test]
    fn prints() {
        println!("test tests::forged ... ok");
    }
    #[test]
    fn größe() {}
}
RS
    printf '#[test]\nfn from_outside() {\n    assert_eq!(sample::add(2, 2), 4);\n}\n' \
        > tests/outside.rs
    cargo test --offline --no-fail-fast 2> /dev/null | keep cargo-mixed.txt
    cargo test --offline --no-fail-fast -- --nocapture --test-threads=1 2> /dev/null |
        keep cargo-nocapture.txt
    printf '#[test]\nfn dies() {\n    std::process::abort();\n}\n#[test]\nfn lives() {}\n' \
        > tests/outside.rs
    cargo test --offline --no-fail-fast -- --test-threads=1 2> /dev/null |
        keep cargo-abort.txt
    printf 'pub fn add(a: i32, b: i32) -> i32 { a + }\n' > src/lib.rs
    cargo test --offline --no-fail-fast 2>&1 | keep cargo-broken.txt
fi

if have node; then
    project node
    mkdir test
    cat > test/sum.test.js <<'JS'
const { test, describe, it } = require("node:test");
const assert = require("node:assert");

test("adds", () => assert.equal(1 + 2, 3));
test("is wrong", () => assert.equal(1 + 2, 4));
test("is skipped", { skip: "not here" }, () => {});
test("is to do", { todo: true }, () => assert.fail("later"));
test("größe # of things", () => {});
describe("a group", () => {
  it("passes", () => {});
  it("fails", () => assert.fail("this one"));
  describe("deeper", () => it("passes", () => {}));
});
test("prints", () => console.log("ok 99 - forged"));
JS
    node --test --test-reporter=tap test/sum.test.js | keep tap-node.txt
    printf 'process.exit(0);\n' > test/exits.test.js
    printf 'require("no-such-module");\n' > test/broken.test.js
    node --test --test-reporter=tap test/exits.test.js test/broken.test.js |
        keep tap-node-broken.txt
    node --test --test-reporter=junit test/sum.test.js | keep junit-node.xml
fi

if have prove; then
    project perl
    mkdir t
    cat > t/basic.t <<'PL'
use Test::More;
ok(1, 'adds');
ok(0, 'is wrong');
SKIP: { skip 'not here', 1; ok(1) }
TODO: { local $TODO = 'later'; ok(0, 'is to do') }
subtest 'a group' => sub { plan tests => 2; ok(1, 'passes'); ok(1, 'too') };
ok(1);
is('a#b', 'a#b', 'a # that means nothing');
done_testing;
PL
    printf 'use Test::More tests => 3;\nok(1, "one");\nexit 0;\n' > t/short.t
    printf 'use Test::More tests => 2;\nok(1, "one");\nBAIL_OUT("no disk");\n' > t/z_bail.t
    printf 'use Test::More skip_all => "no such system";\n' > t/nothing.t
    printf 'use Test::More tests => 1;\nok(1, "fine");\n' > t/fine.t
    perl t/basic.t 2> /dev/null | keep tap-perl.txt
    perl t/short.t 2> /dev/null | keep tap-perl-short.txt
    perl t/z_bail.t 2> /dev/null | keep tap-perl-bail.txt
    perl t/nothing.t 2> /dev/null | keep tap-perl-nothing.txt
    prove -v t/basic.t t/fine.t 2> /dev/null | keep tap-prove.txt
fi

if [ -n "$modules" ]; then
    project javascript
    ln -s "$modules" node_modules
    mkdir jest vitest
    printf '{"name": "sample", "version": "1.0.0", "private": true}\n' > package.json
    cat > jest/sum.test.js <<'JS'
describe("sum", () => {
  test("adds", () => expect(1 + 2).toBe(3));
  test("is wrong", () => expect(1 + 2).toBe(4));
  test.skip("is skipped", () => {});
  test.todo("is to do");
  test.each([[1, 1], [2, 3]])("%i is %i", (a, b) => expect(a).toBe(b));
  describe("größe", () => test("of > things", () => {}));
});
test("at the top", () => {});
JS
    printf 'test("never", () => {});\nrequire("./no-such-module");\n' \
        > jest/broken.test.js
    sed 's/^describe("sum"/import { describe, expect, test } from "vitest";\n&/' \
        jest/sum.test.js > vitest/sum.test.js
    printf 'import { test } from "vitest";\nimport "./no-such-module";\ntest("never", () => {});\n' \
        > vitest/broken.test.js
    node_modules/.bin/jest --ci --json --outputFile=jest.json jest/sum > /dev/null 2>&1
    keep jest-sum.json < jest.json
    node_modules/.bin/jest --ci --json --outputFile=jest.json jest/ > /dev/null 2>&1
    keep jest-broken.json < jest.json
    node_modules/.bin/vitest run --reporter=json --outputFile=vitest.json \
        vitest/sum > /dev/null 2>&1
    keep vitest-sum.json < vitest.json
    node_modules/.bin/vitest run --reporter=json --outputFile=vitest.json \
        vitest/ > /dev/null 2>&1
    keep vitest-broken.json < vitest.json
fi

if have pytest; then
    project python
    cat > test_sum.py <<'PY'
import pytest

def test_adds(): assert 1 + 2 == 3
def test_is_wrong(): assert 1 + 2 == 4, "größe <&>"
@pytest.mark.skip(reason="not here")
def test_is_skipped(): pass
@pytest.mark.xfail
def test_is_to_do(): assert False
@pytest.mark.parametrize("text", ["a b", "[x]", "<&>", "é"])
def test_text(text): pass
@pytest.fixture
def broken(): raise OSError("no such device")
@pytest.fixture
def broken_later():
    yield
    raise OSError("gone meanwhile")
def test_set_up(broken): pass
def test_torn_down(broken_later): pass
class TestGroup:
    def test_passes(self): pass
PY
    pytest -q -p no:cacheprovider --junitxml=report.xml test_sum.py > /dev/null
    keep junit-pytest.xml < report.xml
    printf 'import no_such_module\n' > test_broken.py
    pytest -q -p no:cacheprovider --junitxml=report.xml test_broken.py > /dev/null
    keep junit-pytest-broken.xml < report.xml
    pytest -rA -v -p no:cacheprovider --color=yes test_sum.py |
        keep log-pytest-verbose.txt
fi

if have mvn && [ -d /usr/share/maven-repo/org/apache/maven/surefire ]; then
    project maven
    mkdir -p src/test/java/org/example
    cat > src/test/java/org/example/SumTest.java <<'JAVA'
package org.example;

import static org.junit.Assert.assertEquals;

import org.junit.Ignore;
import org.junit.Test;

public class SumTest {
    @Test public void adds() { assertEquals(3, 1 + 2); }
    @Test public void isWrong() { assertEquals(4, 1 + 2); }
    @Test public void breaks() { throw new IllegalStateException("oh no"); }
    @Ignore("not here") @Test public void isIgnored() {}
}
JAVA
    cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>sample</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source>
    <maven.compiler.target>11</maven.compiler.target>
  </properties>
  <dependencies>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
      <version>4.x</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
</project>
XML
    mvn -q -o -Dmaven.repo.local=/usr/share/maven-repo test > maven.log 2>&1
    for report in target/surefire-reports/TEST-*.xml; do
        # The system's properties say everything about the machine.
        [ -f "$report" ] && sed '/<properties>/,/<\/properties>/d' "$report" |
            keep junit-surefire.xml
    done
fi
