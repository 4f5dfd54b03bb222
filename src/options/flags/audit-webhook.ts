import { defineFlags } from '../flag.ts';

/** Flags under the heading Audit webhook. */
export const auditWebhookFlags = defineFlags('Audit webhook', [
  {
    name: 'audit-webhook-config-file',
    type: 'string',
    default: '',
    meaning: 'client configuration format file',
  },
  {
    name: 'audit-webhook-mode',
    type: 'string',
    default: 'batch',
    meaning: 'batch, blocking or blocking-strict',
  },
  {
    name: 'audit-webhook-version',
    type: 'string',
    default: 'audit.cluster.io/v1',
    meaning: 'group and version',
  },
  {
    name: 'audit-webhook-initial-backoff',
    type: 'duration',
    default: '10s',
    meaning: 'wait before retrying the first failed request',
  },
  {
    name: 'audit-webhook-batch-buffer-size',
    type: 'int',
    default: 10000,
    meaning: 'buffer size',
  },
  {
    name: 'audit-webhook-batch-max-size',
    type: 'int',
    default: 400,
    meaning: 'maximum batch size',
  },
  {
    name: 'audit-webhook-batch-max-wait',
    type: 'duration',
    default: '30s',
    meaning: 'wait before a short batch is written',
  },
  {
    name: 'audit-webhook-batch-throttle-enable',
    type: 'bool',
    default: true,
    meaning: 'throttling',
  },
  {
    name: 'audit-webhook-batch-throttle-qps',
    type: 'float',
    default: 10.0,
    meaning: 'batches per second',
  },
  {
    name: 'audit-webhook-batch-throttle-burst',
    type: 'int',
    default: 15,
    meaning: 'burst',
  },
  {
    name: 'audit-webhook-truncate-enabled',
    type: 'bool',
    default: false,
    meaning: 'truncation',
  },
  {
    name: 'audit-webhook-truncate-max-batch-size',
    type: 'int',
    default: 10485760,
    meaning: 'as for the log',
  },
  {
    name: 'audit-webhook-truncate-max-event-size',
    type: 'int',
    default: 102400,
    meaning: 'as for the log',
  },
]);
