import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';

/** What is different, by dotted path; undefined takes the value away. */
export type Changes = Readonly<Record<string, JsonValue | undefined>>;

/** Changes to a good manifest, and the lines that must come of them. */
export type Variation = [changes: Changes, lines: string[]];

/** A status, what somebody writes over it, the lines that must come of it, and through which subresource. */
export type StatusChange = [before: JsonObject, after: JsonObject, lines: string[], view?: string];

/** A changed copy: `vary(role, { 'rules.0.verbs': [] })`. */
export function vary(manifest: JsonObject, changes: Changes): JsonObject {
  const copy = structuredClone(manifest);
  for (const [path, value] of Object.entries(changes)) put(copy, path.split('.'), value);
  return copy;
}

function put(
  target: JsonObject,
  [name = '', ...rest]: readonly string[],
  value: JsonValue | undefined,
): void {
  if (rest.length > 0) {
    const inner = target[name] ?? {};
    target[name] = inner;
    put(inner as JsonObject, rest, value);
  } else if (value === undefined) delete target[name];
  else target[name] = value;
}

/** Without the examples and the expression that end what is said of names, and without values longer than what is said of them. */
export const shortened = (lines: readonly string[]): string[] =>
  lines.map((line) =>
    line.replace(/ \(e\.g\. .*'\)$/s, '').replace(/Invalid value: [[{].{100,}[\]}]: /s, 'Invalid value: …: '),
  );
