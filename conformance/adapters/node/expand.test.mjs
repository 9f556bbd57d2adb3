// The templates of the corpus, expanded twice: `threadspec export --plain cases.jsonl`, then `CASES=cases.jsonl node --test expand.test.mjs`.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { expand } from '../../../golden/expand.mjs';

const golden = fileURLToPath(new URL('../../../golden/', import.meta.url));
const exported = new Map(
  readFileSync(process.env.CASES, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)).map((one) => [one.id, one]),
);
const paths = readdirSync(golden, { recursive: true }).filter((path) => /^\w+[/\\][\w-]+\.json$/.test(path));
const templates = paths.flatMap((path) => {
  const { cases = [] } = JSON.parse(readFileSync(golden + path, 'utf8'));
  const topic = path.replaceAll('\\', '/').replace('.json', '');
  return cases.filter((one) => one.expand).map((one) => [`${topic}/${one.name}`, one]);
});

for (const [id, { after, input }] of templates.filter(([id]) => exported.has(id))) {
  test(id, () => {
    assert.deepEqual(expand(input), exported.get(id).input);
    assert.deepEqual(expand(after ?? []), (exported.get(id).after ?? []).map((before) => before.input));
  });
}

test('most templates are exported', () => assert.ok(exported.size > 500 && templates.filter(([id]) => exported.has(id)).length > 40));
