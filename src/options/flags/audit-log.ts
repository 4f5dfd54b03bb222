import { defineFlags } from '../flag.ts';

/** Flags under the heading Audit log. */
export const auditLogFlags = defineFlags('Audit log', [
  { name: 'audit-policy-file', type: 'string', default: '', meaning: 'audit policy file' },
  {
    name: 'audit-log-path',
    type: 'string',
    default: '',
    meaning: 'when set, all requests are logged here; - means standard out',
  },
  {
    name: 'audit-log-format',
    type: 'string',
    default: 'json',
    meaning: 'legacy (one text line per event) or json',
  },
  {
    name: 'audit-log-mode',
    type: 'string',
    default: 'blocking',
    meaning: 'batch, blocking or blocking-strict',
  },
  {
    name: 'audit-log-version',
    type: 'string',
    default: 'audit.cluster.io/v1',
    meaning: 'group and version of serialized events',
  },
  {
    name: 'audit-log-maxage',
    type: 'int',
    default: undefined,
    meaning: 'days to keep rotated files',
  },
  {
    name: 'audit-log-maxbackup',
    type: 'int',
    default: undefined,
    meaning: 'old files to keep; 0 means no limit',
  },
  {
    name: 'audit-log-maxsize',
    type: 'int',
    default: undefined,
    meaning: 'megabytes before rotation',
  },
  {
    name: 'audit-log-compress',
    type: 'bool',
    default: false,
    meaning: 'gzip rotated files',
  },
  {
    name: 'audit-log-batch-buffer-size',
    type: 'int',
    default: 10000,
    meaning: 'buffer size in batch mode',
  },
  {
    name: 'audit-log-batch-max-size',
    type: 'int',
    default: 1,
    meaning: 'maximum batch size',
  },
  {
    name: 'audit-log-batch-max-wait',
    type: 'duration',
    default: undefined,
    meaning: 'wait before a short batch is written',
  },
  {
    name: 'audit-log-batch-throttle-enable',
    type: 'bool',
    default: false,
    meaning: 'batch throttling',
  },
  {
    name: 'audit-log-batch-throttle-qps',
    type: 'float',
    default: undefined,
    meaning: 'average batches per second',
  },
  {
    name: 'audit-log-batch-throttle-burst',
    type: 'int',
    default: undefined,
    meaning: 'burst size when unused QPS existed',
  },
  {
    name: 'audit-log-truncate-enabled',
    type: 'bool',
    default: false,
    meaning: 'truncation of events and batches',
  },
  {
    name: 'audit-log-truncate-max-batch-size',
    type: 'int',
    default: 10485760,
    meaning: 'larger batches are split',
  },
  {
    name: 'audit-log-truncate-max-event-size',
    type: 'int',
    default: 102400,
    meaning: 'larger events first lose request and response, then are discarded',
  },
]);
