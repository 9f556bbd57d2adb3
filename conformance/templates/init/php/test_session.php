<?php

/** Runs without a test framework: `php test_session.php` fails with the first difference. */

declare(strict_types=1);

require_once __DIR__ . '/session.php';

const CALL = '{"id":"c1","name":"look","args":{"at":"the door"}}';
const INPUT = '{"storage":"not used by a list","system":"Be brief.","tools":{"look":{"byId":{"c1":"it is open"}}},"runs":['
    . '{"message":"Is it open?","model":[{"tool_calls":[' . CALL . ']},{"content":"Yes."}]},'
    . '{"message":"Fails","model":[{"error":"overloaded"}]},{"message":"Thanks","model":[{"content":"Bye."}]}]}';

function check(mixed $actual, mixed $expected): void
{
    if ($actual !== $expected) {
        throw new Exception(var_export($actual, true) . ' instead of ' . var_export($expected, true));
    }
}

$hello = answer(read_json('{"id":0,"op":"hello","protocol":1}'))['ok'];
check([$hello['ops'], $hello['profiles'], in_array('message', $hello['session'], true)], [['session'], ['universal'], true]);

[$first, $failed, $last] = answer(read_json('{"id":7,"op":"session","input":' . INPUT . '}'))['ok']['runs'];
check(write_json($first['executed']), '[' . CALL . ']');
check(array_map('count', $first['requests']), [2, 4]);
check($failed['failure'], 'overloaded');
check(array_column($last['requests'][0], 'content'), ['Be brief.', 'Is it open?', '', 'it is open', 'Yes.', 'Fails', 'Thanks']);
echo "5 checks passed\n";
