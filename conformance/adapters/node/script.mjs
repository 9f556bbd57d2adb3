// The scripted model, tools and verifier of the ops `tools` and `loop`.

/** A model that answers with `turns` in order; `requests` collects the messages that it was sent. */
export function scriptedModel(turns) {
  const requests = [];
  const model = async (messages) => {
    const turn = turns[requests.length] ?? { error: 'script exhausted' };
    requests.push(messages);
    if (turn.error !== undefined) throw new Error(turn.error);
    return turn;
  };
  return { model, requests };
}

/** From a Map of results to a Map of functions that return them in order, the last one repeated. */
export function scriptedTools(tools) {
  return new Map([...tools].map(([name, results]) => {
    let next = 0;
    return [name, async () => {
      if (results.length === 0) return '';
      const result = results[Math.min(next++, results.length - 1)];
      if (isFailure(result)) throw new Error(result.error);
      return result;
    }];
  }));
}

const isFailure = (result) => typeof result === 'object' && result !== null && typeof result.error === 'string'
  && Object.keys(result).length === 1;

/** A verifier that gives `verdicts` in order, then agrees; none without `verdicts`. */
export function scriptedVerifier(verdicts) {
  if (verdicts === undefined) return undefined;
  let next = 0;
  return async () => verdicts[next++] ?? { complete: true };
}
