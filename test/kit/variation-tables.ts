import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';

/** Tables of manifests and what is wrong with them. */

/** Changes to a good manifest by dotted path, and the lines that must come of them. */
export type Variation = [changes: Readonly<Record<string, JsonValue | undefined>>, lines: string[]];

/** A status, a write over it, the lines that must come of it, and through which subresource. */
export type StatusChange = [before: JsonObject, after: JsonObject, lines: string[], view?: string];

/** Without the examples and the expression that end what is said of names, and without values longer than what is said of them. */
export const shortened = (lines: readonly string[]): string[] =>
  lines.map((line) =>
    line.replace(/ \(e\.g\. .*'\)$/s, '').replace(/Invalid value: [[{].{100,}[\]}]: /s, 'Invalid value: …: '),
  );
