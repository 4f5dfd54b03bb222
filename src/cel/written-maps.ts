import { Optional } from '@marcbachmann/cel-js';

/** Maps as expressions write them: `{k: v, ?o: optional.of(1)}`. */

/** The operator of an entry behind a `?`. */
export const OPTIONAL_ENTRY = 'optionalEntry';

interface WrittenNode {
  readonly op: string;
  readonly args: unknown;
}

interface Runner {
  run(node: WrittenNode, context: unknown): unknown;
}

/** Keys keep their types. Those of the library's maps are texts. */
export function evaluateMap(runner: Runner, { args }: WrittenNode, context: unknown): Map<unknown, unknown> {
  const map = new Map<unknown, unknown>();
  for (const [key, value] of args as readonly (readonly [WrittenNode, WrittenNode])[]) {
    const [name, given] = [runner.run(key, context), runner.run(value, context)];
    for (const one of key.op === OPTIONAL_ENTRY ? present(given) : [given]) map.set(name, one);
  }
  return map;
}

/** @throws Error when the value is no optional one */
export function present(value: unknown): unknown[] {
  if (!(value instanceof Optional)) throw new Error('no such overload');
  return value.hasValue() ? [value.value()] : [];
}
