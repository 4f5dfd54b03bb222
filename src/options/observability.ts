import { minorOf } from '../api/feature-gates.ts';
import { parseQuantity } from '../object/quantity.ts';
import type { LogFormat, ModuleVerbosity } from '../observability/logger.ts';
import type { MetricPolicy } from '../observability/metrics.ts';
import { type EgressConfig, readEgressConfig } from '../outbound/egress/egress-config.ts';
import { errorText } from '../util/error-text.ts';
import { assertGate } from './api.ts';
import type { CommandLine } from './command-line.ts';
import type { FeatureGates } from './feature-gates.ts';
import { bool, duration, int, list, repeated, text, UsageError, type ValuesOf } from './flag.ts';
import { helpAndVersion } from './help-and-version.ts';
import { labelValues, manifestValues } from './metric-labels.ts';
import { readTracingConfig } from './tracing-config.ts';

export const tracingFlags = {
  egress: text('egress-selector-config-file', {
    default: '',
    meaning:
      'egress selector configuration file: by which proxies the cluster, webhooks and the database are reached',
    check: egressConfig,
  }),
  tracingFile: text('tracing-config-file', { default: '', meaning: 'tracing configuration file' }),
};

export const loggingFlags = {
  help: helpAndVersion.help,
  verbosity: int('v', { default: 0, meaning: 'log verbosity level' }),
  reportedVersion: helpAndVersion.reportedVersion,
  modules: list('vmodule', {
    default: [],
    meaning: 'file-filtered logging; text format only',
    check: (texts, flag) => texts.map((one) => moduleVerbosity(one, flag)),
  }),
  flushEveryMs: duration('log-flush-frequency', {
    default: '5s',
    meaning: 'maximum time between log flushes',
  }),
  format: text('logging-format', {
    default: 'text',
    meaning: 'only text is permitted; since 1.32 json, too, with the gate LoggingBetaOptions',
    check: logFormat,
  }),
  bufferBytes: text('log-text-info-buffer-size', {
    default: '0',
    meaning: 'alpha; buffers info messages in split-stream text mode; needs LoggingAlphaOptions',
    check: bytes,
  }),
  splitStream: bool('log-text-split-stream', {
    default: false,
    meaning: 'alpha; errors to stderr and info to stdout; needs LoggingAlphaOptions',
  }),
  jsonBufferBytes: text('log-json-info-buffer-size', {
    default: '0',
    since: 32,
    meaning: 'alpha; buffers info messages in split-stream JSON mode; needs LoggingAlphaOptions',
    check: bytes,
  }),
  jsonSplitStream: bool('log-json-split-stream', {
    default: false,
    since: 32,
    meaning: 'alpha; in JSON, errors to stderr and info to stdout; needs LoggingAlphaOptions',
  }),
  allowedLabels: repeated('allow-metric-labels', {
    default: [],
    meaning: 'allow-list of label values, key form MetricName,LabelName',
    check: labelValues,
  }),
  allowedLabelsFile: text('allow-metric-labels-manifest', {
    default: '',
    meaning: 'file with the same mapping; the flag overrides the file',
    check: manifestValues,
  }),
  disabledMetrics: list('disabled-metrics', {
    default: [],
    meaning: 'fully qualified metrics to disable; beats showing hidden metrics',
  }),
  showHidden: text('show-hidden-metrics-for-version', {
    default: '',
    meaning: 'previous minor version as major.minor whose hidden metrics are shown',
    check: showHidden,
  }),
};

/** Log, metrics, traces, and the version that is reported. Times are in milliseconds. */
export type ObservabilityOptions = ReturnType<typeof readObservability>;

/** @throws UsageError */
export function readObservability(line: CommandLine, gates: FeatureGates) {
  const { tracingFile, egress } = line.valuesOf(tracingFlags);
  if (tracingFile !== '') assertGate(gates, 'APIServerTracing', tracingFlags.tracingFile.shown);
  const said = line.valuesOf(loggingFlags);
  const metrics: MetricPolicy = {
    disabled: new Set(said.disabledMetrics),
    // The flag wins over the file, label by label.
    allowedValues: new Map([...said.allowedLabelsFile, ...said.allowedLabels]),
    showHidden: said.showHidden,
    minor: gates.isEnabled.minor,
  };
  return Object.freeze({
    log: readLog(said, gates),
    metrics,
    /** Undefined: no tracing. */
    egress,
    tracing: tracingFile === '' ? undefined : readTracingConfig(tracingFile, tracingFlags.tracingFile.shown),
    /** The version that is reported instead of the real one. */
    reportedVersion: said.reportedVersion,
  });
}

function readLog(said: ValuesOf<typeof loggingFlags>, gates: FeatureGates) {
  const { verbosity, modules, format, flushEveryMs } = said;
  for (const name of ['splitStream', 'bufferBytes', 'jsonSplitStream', 'jsonBufferBytes'] as const)
    if (said[name] !== false && said[name] !== 0)
      assertGate(gates, 'LoggingAlphaOptions', loggingFlags[name].shown);
  if (format === 'text')
    return {
      ...{ verbosity, modules, format, flushEveryMs },
      splitStream: said.splitStream,
      bufferBytes: said.bufferBytes,
    };
  const { shown } = loggingFlags.format;
  if (minorOf(gates.isEnabled) < 32)
    throw new UsageError(`${shown}: "json": only text is permitted before 1.32`);
  assertGate(gates, 'LoggingBetaOptions', `${shown}=json`);
  return {
    ...{ verbosity, modules, format, flushEveryMs },
    ...{ splitStream: said.jsonSplitStream, bufferBytes: said.jsonBufferBytes },
  };
}

function logFormat(format: string, flag: string): LogFormat {
  if (format === 'text' || format === 'json') return format;
  throw new UsageError(`${flag}: ${JSON.stringify(format)}: only text and json are permitted`);
}

function bytes(text: string, flag: string): number {
  const count = Number(parseQuantity(text)?.nanos ?? Number.NaN) / 1e9;
  if (!(count >= 0)) {
    throw new UsageError(
      `${flag}: ${JSON.stringify(text)} is not a quantity of bytes such as 512, 1M or 64Ki`,
    );
  }
  return count;
}

function moduleVerbosity(text: string, flag: string): ModuleVerbosity {
  const match = /^([^=]+)=(\d+)$/.exec(text);
  if (match === null) throw new UsageError(`${flag}: ${JSON.stringify(text)} is not of the form pattern=N`);
  return { pattern: match[1] ?? '', level: Number(match[2]) };
}

/** A metric is hidden for one minor version before it is removed. */
function showHidden(version: string, flag: string): boolean {
  if (version === '') return false;
  if (version === '1.30') return true;
  throw new UsageError(
    `${flag}: ${JSON.stringify(version)} must be left out or be "1.30": only the previous minor version is allowed`,
  );
}

/** Undefined without a file: everything is reached directly. */
function egressConfig(path: string, flag: string): EgressConfig | undefined {
  try {
    return path === '' ? undefined : readEgressConfig(path);
  } catch (error) {
    throw new UsageError(`${flag}: ${errorText(error)}`);
  }
}
