#!/usr/bin/env bash
# Runs a published program against scripted turns: examples/provider/programs.sh NAME, from the root of a checkout.
#
# Each ran unchanged, two rounds of tools, in the version that its line names (2026-11-25). All but llm run the command of the script,
# `echo hi`, without asking: use an empty folder and a HOME of its own.
set -euo pipefail
scripts=examples/provider

play() { # SCRIPT PROGRAM...
    local script=$1
    shift
    exec threadspec provider --script "$scripts/$script.json" -- "$@"
}

case ${1-} in
    llm) # 0.36, pypi.org/project/llm
        play llm llm -m gpt-4.1 -T llm_time 'What time is it?' ;;
    claude-code) # 2.1.197, npmjs.com/package/@anthropic-ai/claude-code
        play programs claude -p 'say hi' --dangerously-skip-permissions ;;
    codex) # 0.169.0, npmjs.com/package/@openai/codex
        play programs codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -c model_provider=judged \
            -c 'model_providers.judged={name="judged",base_url="{url}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}' 'say hi' ;;
    mini-swe-agent) # 2.4.6, pypi.org/project/mini-swe-agent
        export MSWEA_CONFIGURED=true
        play mini-swe-agent mini -y --exit-immediately -m openai/gpt-4.1 -t 'say hi' ;;
    opencode) # 1.18.33, npmjs.com/package/opencode-ai
        export OPENCODE_CONFIG=$PWD/$scripts/opencode.json
        play programs opencode run -m judged/gpt-4.1 'say hi' ;;
    pi) # 0.73.1, npmjs.com/package/@mariozechner/pi-coding-agent
        play programs pi -e "$scripts/pi.js" --provider anthropic --model claude-sonnet-4-5 -p 'say hi' ;;
    *)
        echo "usage: $0 llm|claude-code|codex|mini-swe-agent|opencode|pi" >&2
        exit 2 ;;
esac
