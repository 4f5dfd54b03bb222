import { notNegative, oneOf, positive } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import { bool, duration, float, int, text, UsageError } from './flag.ts';

const mode = oneOf('batch', 'blocking', 'blocking-strict');
/** The version of recorded events. */
const apiVersion = oneOf('audit.cluster.io/v1', 'audit.k8s.io/v1');

export const auditLogFlags = {
  policyFile: text('audit-policy-file', { default: '', meaning: 'audit policy file' }),
  path: text('audit-log-path', {
    default: '',
    meaning: 'when set, all requests are logged here; - means standard out',
  }),
  format: text('audit-log-format', {
    default: 'json',
    meaning: 'legacy (one text line per event) or json',
    check: oneOf('legacy', 'json'),
  }),
  mode: text('audit-log-mode', {
    default: 'blocking',
    meaning: 'batch, blocking or blocking-strict',
    check: mode,
  }),
  apiVersion: text('audit-log-version', {
    default: 'audit.cluster.io/v1',
    meaning: 'group and version of serialized events',
    check: apiVersion,
  }),
  maxAgeDays: int('audit-log-maxage', { meaning: 'days to keep rotated files', check: notNegative }),
  maxBackups: int('audit-log-maxbackup', {
    meaning: 'old files to keep; 0 means no limit',
    check: notNegative,
  }),
  maxSizeMb: int('audit-log-maxsize', { meaning: 'megabytes before rotation', check: notNegative }),
  compress: bool('audit-log-compress', { default: false, meaning: 'gzip rotated files' }),
  batchBufferSize: int('audit-log-batch-buffer-size', {
    default: 10000,
    meaning: 'buffer size in batch mode',
  }),
  batchMaxSize: int('audit-log-batch-max-size', { default: 1, meaning: 'maximum batch size' }),
  batchMaxWaitMs: duration('audit-log-batch-max-wait', { meaning: 'wait before a short batch is written' }),
  throttles: bool('audit-log-batch-throttle-enable', { default: false, meaning: 'batch throttling' }),
  throttlePerSecond: float('audit-log-batch-throttle-qps', { meaning: 'average batches per second' }),
  throttleBurst: int('audit-log-batch-throttle-burst', { meaning: 'burst size when unused QPS existed' }),
  truncates: bool('audit-log-truncate-enabled', {
    default: false,
    meaning: 'truncation of events and batches',
  }),
  maxBatchBytes: int('audit-log-truncate-max-batch-size', {
    default: 10485760,
    meaning: 'larger batches are split',
    check: positive,
  }),
  maxEventBytes: int('audit-log-truncate-max-event-size', {
    default: 102400,
    meaning: 'larger events first lose request and response, then are discarded',
    check: positive,
  }),
};

export const auditWebhookFlags = {
  configFile: text('audit-webhook-config-file', { default: '', meaning: 'client configuration format file' }),
  mode: text('audit-webhook-mode', {
    default: 'batch',
    meaning: 'batch, blocking or blocking-strict',
    check: mode,
  }),
  apiVersion: text('audit-webhook-version', {
    default: 'audit.cluster.io/v1',
    meaning: 'group and version',
    check: apiVersion,
  }),
  initialBackoffMs: duration('audit-webhook-initial-backoff', {
    default: '10s',
    meaning: 'wait before retrying the first failed request',
  }),
  batchBufferSize: int('audit-webhook-batch-buffer-size', { default: 10000, meaning: 'buffer size' }),
  batchMaxSize: int('audit-webhook-batch-max-size', { default: 400, meaning: 'maximum batch size' }),
  batchMaxWaitMs: duration('audit-webhook-batch-max-wait', {
    default: '30s',
    meaning: 'wait before a short batch is written',
  }),
  throttles: bool('audit-webhook-batch-throttle-enable', { default: true, meaning: 'throttling' }),
  throttlePerSecond: float('audit-webhook-batch-throttle-qps', {
    default: 10,
    meaning: 'batches per second',
  }),
  throttleBurst: int('audit-webhook-batch-throttle-burst', { default: 15, meaning: 'burst' }),
  truncates: bool('audit-webhook-truncate-enabled', { default: false, meaning: 'truncation' }),
  maxBatchBytes: int('audit-webhook-truncate-max-batch-size', {
    default: 10485760,
    meaning: 'as for the log',
    check: positive,
  }),
  maxEventBytes: int('audit-webhook-truncate-max-event-size', {
    default: 102400,
    meaning: 'as for the log',
    check: positive,
  }),
};

/** The audit policy and its back ends. */
export type AuditOptions = ReturnType<typeof readAudit>;
export type AuditLogOptions = AuditOptions['log'];
export type AuditWebhookOptions = AuditOptions['webhook'];

export interface AuditBackendOptions {
  readonly mode: 'batch' | 'blocking' | 'blocking-strict';
  readonly apiVersion: string;
  /** For mode batch. */
  readonly batch: {
    readonly bufferSize: number;
    readonly maxBatchSize: number;
    readonly maxBatchWaitMs: number;
    /** Batches a second; undefined: as they come. */
    readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined;
  };
  /** Undefined: events of any size. */
  readonly truncation: { readonly maxEventBytes: number; readonly maxBatchBytes: number } | undefined;
}

/** @throws UsageError */
export function readAudit(line: CommandLine) {
  const { policyFile, path, format, maxAgeDays, maxBackups, maxSizeMb, compress } =
    line.valuesOf(auditLogFlags);
  const { configFile, initialBackoffMs } = line.valuesOf(auditWebhookFlags);
  return Object.freeze({
    /** Empty: nothing is recorded. */
    policyFile,
    /** With an empty path there is no log; `-` is standard output. Of its limits, 0 is none. */
    log: {
      ...readBackend(line, auditLogFlags),
      ...{ path, format, maxAgeDays, maxBackups, maxSizeMb, compress },
    },
    /** Without a file there is no webhook. */
    webhook: { ...readBackend(line, auditWebhookFlags), configFile, initialBackoffMs },
  });
}

/** The flags that both have. */
type BackendFlags = Pick<typeof auditLogFlags, keyof typeof auditLogFlags & keyof typeof auditWebhookFlags>;

function readBackend(line: CommandLine, flags: BackendFlags): AuditBackendOptions {
  const said = line.valuesOf(flags);
  // Numbers that a mode does not use are not checked.
  const check = said.mode === 'batch' ? positive : (value: number): number => value;
  return {
    mode: said.mode,
    apiVersion: said.apiVersion,
    batch: {
      bufferSize: check(said.batchBufferSize, flags.batchBufferSize.shown),
      maxBatchSize: check(said.batchMaxSize, flags.batchMaxSize.shown),
      maxBatchWaitMs: said.batchMaxWaitMs,
      throttle: said.throttles
        ? {
            perSecond: check(said.throttlePerSecond, flags.throttlePerSecond.shown),
            burst: check(said.throttleBurst, flags.throttleBurst.shown),
          }
        : undefined,
    },
    truncation: readTruncation(line, flags),
  };
}

function readTruncation(line: CommandLine, flags: BackendFlags): AuditBackendOptions['truncation'] {
  const { truncates, maxEventBytes, maxBatchBytes } = line.valuesOf(flags);
  if (maxBatchBytes < maxEventBytes) {
    throw new UsageError(
      `${flags.maxBatchBytes.shown}: ${maxBatchBytes} must not be less than ${flags.maxEventBytes.shown}, ${maxEventBytes}`,
    );
  }
  return truncates ? { maxEventBytes, maxBatchBytes } : undefined;
}
