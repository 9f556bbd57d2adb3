<?php

/** The lines of the protocol, which both adapters speak. */

declare(strict_types=1);

/** Objects stay objects: as arrays, `{}` and `[]` would be the same. Throws JsonException. */
function read_json(string $line): object
{
    // Half a surrogate pair, which `json_decode` refuses, is read as U+FFFD. The pattern takes each escape, and captures such a half.
    $escape = '/\\\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)/';
    $readable = preg_replace_callback($escape, fn (array $found) => isset($found[1]) ? '\ufffd' : $found[0], $line);
    return json_decode($readable, false, 1 << 20, JSON_THROW_ON_ERROR);
}

/** Throws JsonException. */
function write_json(mixed $value): string
{
    $flags = JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE;
    return json_encode($value, $flags, 1 << 20);
}

/** Answers requests until standard input ends. */
function serve(callable $answer): void
{
    // A warning becomes an exception: it would stand on standard output otherwise.
    set_error_handler(fn (int $level, string $message) => throw new ErrorException($message, 0, $level));
    // Large cases have lines of several megabytes.
    ini_set('memory_limit', '-1');
    while (($line = fgets(STDIN)) !== false) {
        fwrite(STDOUT, write_json($answer(read_json($line))) . "\n");
        fflush(STDOUT);
    }
}
