import type { JsonValue } from '../api/object-meta.ts';
import { toYaml } from '../codec/yaml/emitter.ts';
import type { CommandArguments } from './arguments.ts';
import { readJson } from './read-json.ts';
import type { Screen } from './screen.ts';
import type { Command } from './session.ts';
import { toShownJson, toShownLines } from './shown-text.ts';
import { UsageError } from './usage-error.ts';

/** The value of `-o`; undefined: the default format. @throws UsageError */
export function readFormat({ name, formats = [] }: Command, args: CommandArguments): string | undefined {
  const format = args.text('output');
  if (format === undefined || formats.includes(format)) return format;
  throw new UsageError(`-o: ${name} knows no ${JSON.stringify(format)}; it takes ${formats.join(', ')}`);
}

/** A document for programs. Escapes unsafe characters where that preserves the value. */
export function toDocument(format: 'json' | 'yaml', value: unknown, screen: Screen): string {
  const json = JSON.stringify(value, undefined, 4);
  if (format === 'json') return `${toShownJson(json)}\n`;
  // JSON omits undefined fields.
  const plain: JsonValue = readJson(json);
  const yaml = toYaml(plain);
  return screen.isTerminal ? toShownLines(yaml) : yaml;
}

export const isDocument = (format: string | undefined): format is 'json' | 'yaml' =>
  format === 'json' || format === 'yaml';

/** Many objects as one list. */
export const toList = (kind: string, items: readonly unknown[]): object => ({
  apiVersion: 'history.cluster.io/v1alpha1',
  kind,
  metadata: {},
  items,
});
