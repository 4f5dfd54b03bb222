import { defineFlags } from '../flag.ts';

/** Flags under the heading Logging and metrics. */
export const loggingFlags = defineFlags('Logging and metrics', [
  { name: 'v', type: 'int', default: 0, meaning: 'log verbosity level' },
  {
    name: 'vmodule',
    type: 'strings',
    default: [],
    meaning: 'file-filtered logging; text format only',
    effective: false,
  },
  {
    name: 'log-flush-frequency',
    type: 'duration',
    default: '5s',
    meaning: 'maximum time between log flushes',
    effective: false,
  },
  {
    name: 'logging-format',
    type: 'string',
    default: 'text',
    meaning: 'only text is permitted',
    effective: false,
  },
  {
    name: 'log-text-info-buffer-size',
    type: 'string',
    default: '0',
    meaning: 'alpha; buffers info messages in split-stream text mode; needs LoggingAlphaOptions',
    effective: false,
  },
  {
    name: 'log-text-split-stream',
    type: 'bool',
    default: false,
    meaning: 'alpha; errors to stderr and info to stdout; needs LoggingAlphaOptions',
    effective: false,
  },
  {
    name: 'allow-metric-labels',
    type: 'strings',
    default: [],
    meaning: 'allow-list of label values, key form MetricName,LabelName',
    effective: false,
  },
  {
    name: 'allow-metric-labels-manifest',
    type: 'string',
    default: '',
    meaning: 'file with the same mapping; the flag overrides the file',
    effective: false,
  },
  {
    name: 'disabled-metrics',
    type: 'strings',
    default: [],
    meaning: 'fully qualified metrics to disable; beats showing hidden metrics',
    effective: false,
  },
  {
    name: 'show-hidden-metrics-for-version',
    type: 'string',
    default: '',
    meaning: 'previous minor version as major.minor whose hidden metrics are shown',
    effective: false,
  },
]);
