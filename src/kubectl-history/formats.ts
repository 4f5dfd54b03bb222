import type { JsonValue } from '../api/object-meta.ts';
import { toYaml } from '../codec/yaml/emitter.ts';
import type { CommandArguments } from './arguments.ts';
import { readJson } from './json.ts';
import type { Screen } from './screen.ts';
import type { Command } from './session.ts';
import { toShownJson, toShownLines } from './shown-text.ts';
import { UsageError } from './usage-error.ts';

/** What `-o` asks for; undefined for the usual form. @throws UsageError */
export function readFormat({ name, formats = [] }: Command, args: CommandArguments): string | undefined {
  const format = args.text('output');
  if (format === undefined || formats.includes(format)) return format;
  throw new UsageError(`-o: ${name} knows no ${JSON.stringify(format)}; it takes ${formats.join(', ')}`);
}

/** For programs. What is unfit for a terminal is escaped where that means the same. */
export function toDocument(format: 'json' | 'yaml', value: unknown, screen: Screen): string {
  const json = JSON.stringify(value, undefined, 4);
  if (format === 'json') return `${toShownJson(json)}\n`;
  // By way of JSON, which leaves out what is undefined.
  const plain: JsonValue = readJson(json);
  const yaml = toYaml(plain);
  return screen.isTerminal ? toShownLines(yaml) : yaml;
}

export const isDocument = (format: string | undefined): format is 'json' | 'yaml' =>
  format === 'json' || format === 'yaml';

/** Many objects as one. */
export const toList = (kind: string, items: readonly unknown[]): object => ({
  apiVersion: 'history.cluster.io/v1alpha1',
  kind,
  metadata: {},
  items,
});
