export type Level = "error" | "warning" | "note";
export type Api = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

/** Where something is. What is not known, or does not exist there, is absent. */
export interface Place {
  /** One phrase for people: `request 2 (line 7), message 5`. */
  readonly phrase: string;
  /** The entry of a container: a file in a zip, a row of a database. */
  readonly entry?: string;
  /** The line of a text, counted from 1. */
  readonly line?: number;
  /** The request, counted from 1. */
  readonly request?: number;
  /** The request that it goes on from, where that matters. */
  readonly after?: number;
  /** The message, item or event: `message 5`, counted from 1 (events from 0). */
  readonly element?: string;
  /** The conversation's key, if the log has one. */
  readonly conversation?: string;
  /** The path in the request or the record: `messages[4].tool_call_id`. */
  readonly path?: string;
}

/** One thing that is wrong. */
export interface Finding {
  /** The rule that is broken; `npx threadspec explain RULE` knows it. */
  readonly rule: string;
  /** error: the request is refused, or something is lost. warning: some servers refuse it, or it costs money. note: nothing to fix. */
  readonly level: Level;
  readonly place: Place;
  /** What is wrong there, in one sentence. It may quote any character of the input. */
  readonly text: string;
  /** What to do, in one sentence; empty if there is nothing to do. */
  readonly advice: string;
}

export interface CheckOptions {
  /** What the messages were sent to, as they are. Without it their form tells, and calls that are open at the end are only a note. */
  api?: Api;
}

/**
 * What is wrong with the messages of a conversation, a request, or a log of any form that `threadspec check` reads: an object, or text or bytes of
 * JSON or JSON Lines.
 *
 * @throws {RangeError} if there is nothing to judge.
 */
export function check(log: object | string | Uint8Array, options?: CheckOptions): Finding[];

/** A finding in a line, and one on what to do; control characters are escaped. */
export function format(finding: Finding): string;

/** Throws an `AssertionError` that can be read if `check` finds an error (`strict`: or a warning). */
export function assertHistory(messages: object | string | Uint8Array, options?: CheckOptions & { strict?: boolean }): void;
