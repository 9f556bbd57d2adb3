/** A turn of the model, as in the script of `threadspec provider`. */
export interface Turn {
  content?: string;
  tool_calls?: { id?: string; name: string; args?: Record<string, unknown>; arguments?: string }[];
  [member: string]: unknown;
}
/** A list of turns, or a whole script with rules. */
export type Script = Turn[] | Record<string, unknown>;
export interface Options {
  /** Further arguments of `threadspec provider`. */
  options?: string[];
}
export interface Verdict {
  /** Whether at least one request was judged, and nothing counts against the agent. */
  conformant: boolean;
  /** 0 conformant, 1 not, 2 wrong usage, 3 it could not listen, 4 the script is at fault. */
  exitCode: number;
  /** The findings, for people. */
  text: string;
}
/** A model provider on 127.0.0.1, in a process of its own. */
export interface Provider {
  /** Where it listens: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** The base URL for OpenAI's SDK, for both of its APIs. */
  readonly openaiUrl: string;
  /** The base URL for Anthropic's SDK. */
  readonly anthropicUrl: string;
  /** The API key that the agent has to send. */
  readonly key: string;
  readonly isJudged: boolean;
  /** Ends the provider, and resolves to its verdict. */
  verdict(): Promise<Verdict>;
  /** Ends the provider, and throws with its findings if anything counts against the agent. */
  assertConformant(): Promise<void>;
}
/** Starts a model provider: it plays the script, and judges the requests of the agent. */
export function startProvider(script: Script, options?: Options): Promise<Provider>;
