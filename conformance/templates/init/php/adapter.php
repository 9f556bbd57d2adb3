<?php

/**
 * The adapter between threadspec and this implementation: one JSON object a line, from standard input to standard output.
 * Replace `escape` with your own function, and add the operations that you have.
 */

declare(strict_types=1);

require_once __DIR__ . '/lines.php';

const OPERATIONS = ['escape' => 'escape'];

function escape(object $input, ?string $profile): string
{
    return strtr($input->text, ['&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;', "'" => '&apos;']);
}

function answer(object $request): array
{
    $id = $request->id;
    if ($request->op === 'hello') {
        $implementation = ['name' => 'my-agent', 'version' => '0.1.0', 'language' => 'PHP'];
        $ops = array_keys(OPERATIONS);
        return ['id' => $id, 'ok' => ['protocol' => 1, 'implementation' => $implementation, 'ops' => $ops, 'profiles' => ['literal']]];
    }
    $operation = OPERATIONS[$request->op] ?? null;
    if ($operation === null) {
        return ['id' => $id, 'unsupported' => 'not done yet'];
    }
    try {
        return ['id' => $id, 'ok' => $operation($request->input, $request->profile ?? null)];
    } catch (Throwable $error) {
        // The kind is `invalid-event` for a wrong element of `events`. In `universal`, once the model was asked, the reply is `ok` with `failure`.
        return ['id' => $id, 'reject' => ['kind' => 'invalid-input', 'message' => $error->getMessage()]];
    }
}

if (realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    serve('answer');
}
