import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { parseQuantity } from '../object/quantity.ts';
import type { ModuleVerbosity } from '../observability/logger.ts';
import type { MetricPolicy } from '../observability/metrics.ts';
import type { FeatureGates } from './feature-gates.ts';
import { UsageError } from './flag.ts';
import type { FlagValues } from './parse.ts';
import { readTracingConfig, type TracingConfig } from './tracing-config.ts';

/** What the server tells of itself. Times are in milliseconds. */
export interface ObservabilityOptions {
  readonly log: LogOptions;
  readonly metrics: MetricPolicy;
  /** --kvstore-count-metric-poll-period; 0: not polled. */
  readonly countPollMs: number;
  /** --kvstore-db-metric-poll-interval; 0: not polled. */
  readonly sizePollMs: number;
  /** Undefined: no tracing. */
  readonly tracing: TracingConfig | undefined;
}

export interface LogOptions {
  readonly modules: readonly ModuleVerbosity[];
  readonly splitStream: boolean;
  readonly bufferBytes: number;
  readonly flushEveryMs: number;
}

/** @throws UsageError */
export function readObservabilityOptions(flags: FlagValues, gates: FeatureGates): ObservabilityOptions {
  const tracingFile = flags.string('tracing-config-file');
  if (tracingFile !== '' && !gates.isEnabled('APIServerTracing'))
    throw new UsageError('--tracing-config-file needs --feature-gates=APIServerTracing=true');
  return {
    log: readLogOptions(flags, gates),
    metrics: {
      disabled: new Set(flags.strings('disabled-metrics')),
      allowedValues: readAllowedValues(flags),
      showHidden: readShowHidden(flags.string('show-hidden-metrics-for-version')),
    },
    countPollMs: flags.duration('kvstore-count-metric-poll-period'),
    sizePollMs: flags.duration('kvstore-db-metric-poll-interval'),
    tracing: tracingFile === '' ? undefined : readTracingConfig(tracingFile),
  };
}

function readLogOptions(flags: FlagValues, gates: FeatureGates): LogOptions {
  const format = flags.string('logging-format');
  if (format !== 'text')
    throw new UsageError(`--logging-format: ${JSON.stringify(format)}: only text is permitted`);
  const splitStream = flags.bool('log-text-split-stream');
  const size = flags.string('log-text-info-buffer-size');
  const bufferBytes = readBytes(size);
  if (!gates.isEnabled('LoggingAlphaOptions')) {
    const needs = (name: string): UsageError =>
      new UsageError(`--${name} needs --feature-gates=LoggingAlphaOptions=true`);
    if (splitStream) throw needs('log-text-split-stream');
    if (bufferBytes !== 0) throw needs('log-text-info-buffer-size');
  }
  return {
    modules: flags.strings('vmodule').map(readModule),
    splitStream,
    bufferBytes,
    flushEveryMs: flags.duration('log-flush-frequency'),
  };
}

function readBytes(text: string): number {
  const bytes = Number(parseQuantity(text)?.nanos ?? Number.NaN) / 1e9;
  if (!(bytes >= 0)) {
    throw new UsageError(
      `--log-text-info-buffer-size: ${JSON.stringify(text)} is not a quantity of bytes such as 512, 1M or 64Ki`,
    );
  }
  return bytes;
}

function readModule(text: string): ModuleVerbosity {
  const match = /^([^=]+)=(\d+)$/.exec(text);
  if (match === null) throw new UsageError(`--vmodule: ${JSON.stringify(text)} is not of the form pattern=N`);
  return { pattern: match[1] ?? '', level: Number(match[2]) };
}

/** One minor version is what an operator has between a metric's hiding and its end. */
function readShowHidden(version: string): boolean {
  if (version === '') return false;
  if (version === '1.30') return true;
  throw new UsageError(
    `--show-hidden-metrics-for-version: ${JSON.stringify(version)} must be left out or be "1.30": only the previous minor version is allowed`,
  );
}

/** The flag wins over the file, label by label. */
function readAllowedValues(flags: FlagValues): ReadonlyMap<string, ReadonlySet<string>> {
  const allowed = new Map<string, ReadonlySet<string>>();
  const add = (source: string, key: string, values: string): void => {
    if (!/^[a-zA-Z_:][\w:]*,[a-zA-Z_]\w*$/.test(key)) {
      throw new UsageError(
        `--${source}: ${JSON.stringify(key)} is not of the form MetricName,LabelName=value,value`,
      );
    }
    allowed.set(key, new Set(values.split(',').map((value) => value.trim())));
  };
  const file = flags.string('allow-metric-labels-manifest');
  for (const [key, values] of readManifest(file)) add('allow-metric-labels-manifest', key, values);
  for (const text of flags.strings('allow-metric-labels')) {
    for (const [key, values] of splitPairs(text)) add('allow-metric-labels', key, values);
  }
  return allowed;
}

/** `metric,label='v1,v2'`, several after one another with commas between them. */
function splitPairs(text: string): [string, string][] {
  const pairs = [
    ...text.matchAll(/([^=,']+,[^=,']+)=(?:'([^']*)'|"([^"]*)"|([^=]*?))(?:,(?=[^=,']+,[^=,']+=)|$)/g),
  ];
  if (pairs.length === 0)
    throw new UsageError(
      `--allow-metric-labels: ${JSON.stringify(text)} is not of the form MetricName,LabelName=value,value`,
    );
  return pairs.map(([, key = '', single, double, bare]) => [key.trim(), single ?? double ?? bare ?? '']);
}

function readManifest(file: string): [string, string][] {
  if (file === '') return [];
  try {
    const document: unknown = parse(readFileSync(file, 'utf8'));
    if (typeof document !== 'object' || document === null) throw new Error('it is no map');
    return Object.entries(document).map(([key, values]) => [key, String(values)]);
  } catch (error) {
    throw new UsageError(
      `--allow-metric-labels-manifest: ${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
