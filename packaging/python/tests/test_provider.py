"""The fixture, as a project uses it. Without an installed package: THREADSPEC=program PYTHONPATH=$PWD/src pytest -p threadspec.pytest_plugin."""

import pytest
from agent import ask, run
from threadspec import Provider

pytest_plugins = ["pytester"]

SCRIPT = [{"content": "I look.", "tool_calls": [{"name": "look", "args": {"n": 1}}]}, {"content": "Done"}]
# How tests inside a test find the agent.
BEGINNING = "import sys; sys.path.insert(0, {!r})\nfrom agent import run\nSCRIPT = {!r}\n"


def without_tool_messages(messages):
    return [message for message in messages if message["role"] != "tool"]


def test_an_agent_that_goes_right(threadspec_provider):
    provider = threadspec_provider(SCRIPT)
    assert run(provider) == "Done"
    provider.assert_conformant()
    assert provider.verdict().exit_code == 0
    assert provider.verdict() is provider.verdict()


def test_an_agent_that_trims_an_answer_is_told_so(threadspec_provider):
    provider = threadspec_provider(SCRIPT)
    with pytest.raises(RuntimeError, match="must be followed by tool messages"):
        run(provider, without_tool_messages)
    with pytest.raises(AssertionError, match=r"AGENT-ANSWERED: .* has 0 answers directly behind it"):
        provider.assert_conformant()
    assert provider.verdict().exit_code == 1
    assert provider.key not in provider.verdict().text


def test_an_agent_that_asks_nothing_is_not_conformant(threadspec_provider):
    provider = threadspec_provider(SCRIPT)
    with pytest.raises(AssertionError, match="no request for an answer came"):
        provider.assert_conformant()


def test_two_at_once_know_nothing_of_each_other(threadspec_provider):
    one, other = threadspec_provider([{"content": "one"}]), threadspec_provider([{"content": "other"}])
    assert one.key != other.key and one.url != other.url
    assert [run(other), run(one)] == ["other", "one"]
    # Each takes its own key only.
    other.key, key = one.key, other.key
    with pytest.raises(RuntimeError, match="Incorrect API key"):
        run(other)
    other.key = key
    one.assert_conformant()
    other.assert_conformant()


def test_rules_and_options(threadspec_provider, tmp_path):
    script = {"rules": [{"when": {"answered": 0}, "turn": {"call": {"tool": "lo*"}}}], "otherwise": {"content": "Done"}}
    provider = threadspec_provider(script, options=["--transcript", str(tmp_path / "said.jsonl")])
    assert run(provider) == "Done"
    provider.assert_conformant()
    lines = (tmp_path / "said.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3 and provider.key not in "".join(lines)


def test_a_wrong_script_says_where(threadspec_provider):
    with pytest.raises(RuntimeError, match=r"exit code 4: .*model\[0\]: `contents` is no member"):
        threadspec_provider([{"contents": "x"}])


def test_without_pytest():
    with Provider([{"content": "Done"}]) as provider:
        assert ask(provider, [{"role": "user", "content": "Go"}])["content"] == "Done"
    assert provider.verdict().conformant


def outcomes_of(pytester, request, test, *options):
    """Runs a test in a process of its own, and returns its outcomes and what it printed."""
    pytester.makepyfile(BEGINNING.format(str(request.path.parent), SCRIPT) + test)
    given = request.config.invocation_params.args
    plugin = ["-p", "threadspec.pytest_plugin"] if "threadspec.pytest_plugin" in given else []
    result = pytester.runpytest_subprocess(*plugin, "-p", "no:cacheprovider", *options)
    return result.parseoutcomes(), result.stdout.str()


def test_a_test_that_forgets_the_verdict_gets_it(pytester, request):
    outcomes, said = outcomes_of(pytester, request, """
def trim(messages):
    return [message for message in messages if message["role"] != "tool"]

def test_right(threadspec_provider):
    run(threadspec_provider(SCRIPT))

def test_wrong(threadspec_provider):
    try:
        run(threadspec_provider(SCRIPT), trim)
    except RuntimeError:
        pass

def test_failed_anyway(threadspec_provider):
    threadspec_provider(SCRIPT)
    assert False, "its own reason"
""")
    assert outcomes == {"passed": 2, "failed": 1, "errors": 1}
    assert "AGENT-ANSWERED" in said and "no request for an answer" not in said


def test_tests_run_in_parallel(pytester, request):
    pytest.importorskip("xdist")
    outcomes, _ = outcomes_of(pytester, request, """
import pytest

@pytest.mark.parametrize("number", range(6))
def test_right(threadspec_provider, number):
    assert run(threadspec_provider(SCRIPT)) == "Done"
""", "-n", "2")
    assert outcomes == {"passed": 6}
