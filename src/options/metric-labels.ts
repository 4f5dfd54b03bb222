import { readFileSync } from 'node:fs';
import { parseYamlText } from '../codec/yaml-text.ts';
import { errorText } from '../util/error-text.ts';
import { UsageError } from './flag.ts';

/** Which values the labels of metrics may have: `MetricName,LabelName` to values. */
type AllowedValues = ReadonlyMap<string, ReadonlySet<string>>;

/** Parses `metric,label='v1,v2'`, or several, separated by commas. @throws UsageError */
export function labelValues(texts: readonly string[], flag: string): AllowedValues {
  return new Map(texts.flatMap((text) => splitPairs(text, flag)).map((pair) => toAllowed(pair, flag)));
}

/** The same from a file. @throws UsageError that names it */
export function manifestValues(file: string, flag: string): AllowedValues {
  return new Map(readManifest(file, flag).map((pair) => toAllowed(pair, flag)));
}

type Pair = readonly [key: string, values: string];

function toAllowed([key, values]: Pair, flag: string): [string, ReadonlySet<string>] {
  if (/^[a-zA-Z_:][\w:]*,[a-zA-Z_]\w*$/.test(key))
    return [key, new Set(values.split(',').map((value) => value.trim()))];
  throw new UsageError(`${flag}: ${JSON.stringify(key)} is not of the form MetricName,LabelName=value,value`);
}

function splitPairs(text: string, flag: string): Pair[] {
  const pairs = [
    ...text.matchAll(/([^=,']+,[^=,']+)=(?:'([^']*)'|"([^"]*)"|([^=]*?))(?:,(?=[^=,']+,[^=,']+=)|$)/g),
  ];
  if (pairs.length === 0)
    throw new UsageError(
      `${flag}: ${JSON.stringify(text)} is not of the form MetricName,LabelName=value,value`,
    );
  return pairs.map(([, key = '', single, double, bare]) => [key.trim(), single ?? double ?? bare ?? '']);
}

function readManifest(file: string, flag: string): Pair[] {
  if (file === '') return [];
  try {
    const document: unknown = parseYamlText(readFileSync(file)).value;
    if (typeof document !== 'object' || document === null) throw new Error('it is no map');
    return Object.entries(document).map(([key, values]) => [key, String(values)]);
  } catch (error) {
    throw new UsageError(`${flag}: ${file}: ${errorText(error)}`);
  }
}
