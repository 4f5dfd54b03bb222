import { defineFlags } from '../flag.ts';

/** Flags under the heading Logging and metrics. */
export const loggingFlags = defineFlags('Logging and metrics', [
  {
    name: 'help',
    type: 'bool',
    default: false,
    meaning: 'prints this text and quits; also -h',
  },
  { name: 'v', type: 'int', default: 0, meaning: 'log verbosity level' },
  {
    name: 'version',
    type: 'version',
    default: undefined,
    meaning: 'prints the version and quits; =raw prints all of it; =vX.Y.Z sets the version that is reported',
  },
  {
    name: 'vmodule',
    type: 'strings',
    default: [],
    meaning: 'file-filtered logging; text format only',
  },
  {
    name: 'log-flush-frequency',
    type: 'duration',
    default: '5s',
    meaning: 'maximum time between log flushes',
  },
  {
    name: 'logging-format',
    type: 'string',
    default: 'text',
    meaning: 'only text is permitted',
  },
  {
    name: 'log-text-info-buffer-size',
    type: 'string',
    default: '0',
    meaning: 'alpha; buffers info messages in split-stream text mode; needs LoggingAlphaOptions',
  },
  {
    name: 'log-text-split-stream',
    type: 'bool',
    default: false,
    meaning: 'alpha; errors to stderr and info to stdout; needs LoggingAlphaOptions',
  },
  {
    name: 'allow-metric-labels',
    type: 'repeated',
    default: [],
    meaning: 'allow-list of label values, key form MetricName,LabelName',
  },
  {
    name: 'allow-metric-labels-manifest',
    type: 'string',
    default: '',
    meaning: 'file with the same mapping; the flag overrides the file',
  },
  {
    name: 'disabled-metrics',
    type: 'strings',
    default: [],
    meaning: 'fully qualified metrics to disable; beats showing hidden metrics',
  },
  {
    name: 'show-hidden-metrics-for-version',
    type: 'string',
    default: '',
    meaning: 'previous minor version as major.minor whose hidden metrics are shown',
  },
]);
