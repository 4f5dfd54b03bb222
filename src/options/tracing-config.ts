import { readFileSync } from 'node:fs';
import { parseYamlText } from '../codec/yaml-text.ts';
import { errorText } from '../util/error-text.ts';
import { UsageError } from './flag.ts';

/** A TracingConfiguration. */
interface TracingConfig {
  /** host:port */
  readonly endpoint: string;
  readonly samplingRatePerMillion: number | undefined;
}

const DEFAULT_ENDPOINT = 'localhost:4317';
const API_VERSION = /^apiserver\.config\.(k8s|cluster)\.io\/(v1alpha1|v1beta1|v1)$/;
const FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'endpoint', 'samplingRatePerMillion']);

/** @throws UsageError that names the file and what is wrong in it */
export function readTracingConfig(file: string, flag: string): TracingConfig {
  const wrong = (why: string): UsageError => new UsageError(`${flag}: ${file}: ${why}`);
  let document: unknown;
  try {
    document = parseYamlText(readFileSync(file)).value;
  } catch (error) {
    throw wrong(errorText(error));
  }
  if (typeof document !== 'object' || document === null) throw wrong('it holds no object');
  const fields = new Map<string, unknown>(Object.entries(document));
  if (!API_VERSION.test(String(fields.get('apiVersion'))) || fields.get('kind') !== 'TracingConfiguration')
    throw wrong('apiVersion must be apiserver.config.k8s.io/v1beta1 and kind TracingConfiguration');
  for (const name of fields.keys())
    if (!FIELDS.has(name)) throw wrong(`unknown field ${JSON.stringify(name)}`);
  return {
    endpoint: readEndpoint(fields.get('endpoint'), wrong),
    samplingRatePerMillion: readRate(fields.get('samplingRatePerMillion'), wrong),
  };
}

function readEndpoint(value: unknown, wrong: (why: string) => UsageError): string {
  if (value === undefined || value === null) return DEFAULT_ENDPOINT;
  if (typeof value !== 'string' || !/^[^\s/]+:\d+$/.test(value)) throw wrong('endpoint must be host:port');
  return value;
}

function readRate(value: unknown, wrong: (why: string) => UsageError): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 1_000_000)
    throw wrong('samplingRatePerMillion must be a whole number from 0 to 1000000');
  return value;
}
