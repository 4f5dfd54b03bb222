import type { JsonObject } from '../api/object-meta.ts';
import type { Parameter } from './openapi-parameters.ts';

/** An operation on its way into a document. */
export interface Operation {
  /** The method in lower case. */
  readonly method: string;
  readonly json: JsonObject;
  /** The parameters, without the body. */
  readonly parameters: readonly Parameter[];
  /** The body as a parameter, which is its form in version 2. */
  readonly body?: JsonObject | undefined;
}

/** As Kubernetes orders the operations of a path. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

/** The operations of a path. A parameter that all of them take is written once, beside them; parameters are sorted by name. */
export function toPathItem(operations: readonly Operation[]): JsonObject {
  const uses = new Map<string, number>();
  for (const { parameters } of operations)
    for (const one of parameters) uses.set(keyOf(one), (uses.get(keyOf(one)) ?? 0) + 1);
  const isShared = (one: Parameter): boolean => uses.get(keyOf(one)) === operations.length;
  const shared = operations[0]?.parameters.filter(isShared) ?? [];
  const ordered = operations.toSorted((a, b) => METHODS.indexOf(a.method) - METHODS.indexOf(b.method));
  const written = ordered.map(({ method, json, parameters, body }) => {
    const own = sorted(parameters.filter((one) => !isShared(one)));
    return [method, { ...json, ...unlessEmpty(body === undefined ? own : [body, ...own]) }] as const;
  });
  return { ...Object.fromEntries(written), ...unlessEmpty(sorted(shared)) };
}

const keyOf = ({ name, where }: Parameter): string => `${name} ${where}`;

const sorted = (parameters: readonly Parameter[]): JsonObject[] =>
  parameters.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map(({ json }) => json);

/** Go's types of these documents omit what is empty, and so does this one: reading and writing gives the same text. */
const unlessEmpty = (parameters: JsonObject[]): JsonObject => (parameters.length === 0 ? {} : { parameters });
