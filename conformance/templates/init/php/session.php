<?php

/**
 * The adapter of op `session`: several runs on one thread, which the agent keeps by its own memory.
 *
 * The agent here is the class Agent, a loop whose memory is a list. Put yours in its place: the scripted model at its model interface, the
 * scripted tools, and the memory that its documentation recommends (a checkpointer, a session, the list that a run hands back). Fix nothing
 * between runs: what the memory holds is what the next run gets, and that is what is judged.
 */

declare(strict_types=1);

require_once __DIR__ . '/lines.php';

/**
 * What the agent has, by itself or as its documentation tells its users to do. Cases that need anything else are unsupported, and do not count
 * against it. Add one after the other: "error", "cancel", "kill", "limit", "resume", "approval", "edit", "compact", "handoff", "opaque", "raw",
 * "image", "rewind", "branch", "steer". What a run has then is said in
 * https://github.com/threadspec/threadspec/blob/main/conformance/REFERENCE.md#sessions.
 */
const FEATURES = ['message'];

/** The agent that is tested: it asks the model, answers each call, and remembers. */
final class Agent
{
    private array $memory = [];

    public function __construct(?string $system, private Script $script)
    {
        if ($system !== null && $system !== '') {
            $this->memory[] = ['type' => 'system', 'content' => $system];
        }
    }

    public function run(string $message): void
    {
        $this->memory[] = ['type' => 'human', 'content' => $message];
        do {
            $response = $this->script->ask($this->memory);
            $this->memory[] = $response;
            foreach ($response['tool_calls'] ?? [] as $call) {
                $this->memory[] = ['type' => 'tool', 'tool_call_id' => $call->id, 'content' => $this->answer($call)];
            }
        } while (isset($response['tool_calls']));
    }

    private function answer(object $call): string
    {
        try {
            $result = $this->script->execute($call);
            return is_string($result) ? $result : write_json($result);
        } catch (Exception $error) {
            return "Error: {$error->getMessage()}";
        }
    }
}

/** The model and the tools of a session, and what they saw in each run. */
final class Script
{
    public array $runs = [];
    private array $turns = [];

    public function __construct(private array $tools)
    {
    }

    public function begin(array $turns): void
    {
        $this->runs[] = ['requests' => [], 'executed' => []];
        $this->turns = $turns;
    }

    /** The model: keeps a copy of what it gets, before anybody changes it, and says what the script says next. */
    public function ask(array $messages): array
    {
        $this->runs[array_key_last($this->runs)]['requests'][] = unserialize(serialize($messages));
        $turn = array_shift($this->turns) ?? (object) ['error' => 'script exhausted'];
        if (isset($turn->error)) {
            throw new RuntimeException($turn->error);
        }
        $calls = ($turn->tool_calls ?? []) === [] ? [] : ['tool_calls' => $turn->tool_calls];
        return ['type' => 'ai', 'content' => $turn->content ?? '', ...$calls];
    }

    /** A tool: keeps what it was called with, and gives the result of the call with this id. */
    public function execute(object $call): mixed
    {
        if (!array_key_exists($call->name, $this->tools)) {
            throw new OutOfBoundsException("there is no tool `{$call->name}`");
        }
        $executed = ['id' => $call->id, 'name' => $call->name, 'args' => $call->args];
        $this->runs[array_key_last($this->runs)]['executed'][] = $executed;
        $results = (array) $this->tools[$call->name]->byId;
        $result = array_key_exists($call->id, $results) ? $results[$call->id] : '';
        if (is_object($result) && array_keys((array) $result) === ['error'] && is_string($result->error)) {
            throw new RuntimeException($result->error);
        }
        return $result;
    }
}

/** Plays all runs, also those behind one that failed, and reports each. */
function play(object $session): array
{
    $script = new Script((array) ($session->tools ?? []));
    $agent = new Agent($session->system ?? null, $script);
    foreach ($session->runs as $run) {
        $script->begin($run->model);
        try {
            $agent->run($run->message);
        } catch (Exception $error) {
            $last = array_key_last($script->runs);
            // An agent that refuses a run does not ask its model.
            $kind = $script->runs[$last]['requests'] === [] ? 'refused' : 'failure';
            $script->runs[$last][$kind] = $error->getMessage();
        }
    }
    return ['runs' => $script->runs];
}

function answer(object $request): array
{
    if ($request->op !== 'hello') {
        return ['id' => $request->id, 'ok' => play($request->input)];
    }
    $implementation = ['name' => 'my-agent', 'version' => '0.1.0', 'language' => 'PHP'];
    $hello = ['protocol' => 1, 'implementation' => $implementation, 'ops' => ['session'], 'profiles' => ['universal'], 'session' => FEATURES];
    return ['id' => $request->id, 'ok' => $hello];
}

if (realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    serve('answer');
}
