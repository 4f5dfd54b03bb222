import { UsageError } from './flag.ts';
import type { FlagValues } from './parse.ts';

/** Flags --audit-*, checked. */
export interface AuditOptions {
  /** Empty: nothing is recorded. */
  readonly policyFile: string;
  readonly log: AuditLogOptions;
  readonly webhook: AuditWebhookOptions;
}

export interface AuditLogOptions extends AuditBackendOptions {
  /** Empty: no log. `-`: standard output. */
  readonly path: string;
  readonly format: 'legacy' | 'json';
  /** 0: no limit, as for all three. */
  readonly maxAgeDays: number;
  readonly maxBackups: number;
  readonly maxSizeMb: number;
  readonly compress: boolean;
}

export interface AuditWebhookOptions extends AuditBackendOptions {
  /** Empty: no webhook. */
  readonly configFile: string;
  readonly initialBackoffMs: number;
}

export interface AuditBackendOptions {
  readonly mode: AuditMode;
  /** Of the events as they are written. */
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

const MODES = ['batch', 'blocking', 'blocking-strict'] as const;
export type AuditMode = (typeof MODES)[number];
const FORMATS = ['legacy', 'json'] as const;
const VERSIONS = ['audit.cluster.io/v1', 'audit.k8s.io/v1'] as const;

/** @throws UsageError */
export function readAuditOptions(flags: FlagValues): AuditOptions {
  return {
    policyFile: flags.string('audit-policy-file'),
    log: {
      ...readBackend(flags, 'log'),
      path: flags.string('audit-log-path'),
      format: oneOf(flags, 'audit-log-format', FORMATS),
      maxAgeDays: notNegative(flags, 'audit-log-maxage'),
      maxBackups: notNegative(flags, 'audit-log-maxbackup'),
      maxSizeMb: notNegative(flags, 'audit-log-maxsize'),
      compress: flags.bool('audit-log-compress'),
    },
    webhook: {
      ...readBackend(flags, 'webhook'),
      configFile: flags.string('audit-webhook-config-file'),
      initialBackoffMs: flags.duration('audit-webhook-initial-backoff'),
    },
  };
}

function readBackend(flags: FlagValues, name: 'log' | 'webhook'): AuditBackendOptions {
  const prefix = `audit-${name}`;
  const mode = oneOf(flags, `${prefix}-mode`, MODES);
  return {
    mode,
    apiVersion: oneOf(flags, `${prefix}-version`, VERSIONS),
    // Numbers that a mode does not use are not looked at.
    batch: readBatch(flags, `${prefix}-batch`, mode === 'batch' ? positive : anyNumber),
    truncation: readTruncation(flags, `${prefix}-truncate`),
  };
}

type ReadNumber = (flags: FlagValues, name: string) => number;

function readBatch(flags: FlagValues, prefix: string, read: ReadNumber): AuditBackendOptions['batch'] {
  const throttled = flags.bool(`${prefix}-throttle-enable`);
  return {
    bufferSize: read(flags, `${prefix}-buffer-size`),
    maxBatchSize: read(flags, `${prefix}-max-size`),
    maxBatchWaitMs: flags.duration(`${prefix}-max-wait`),
    throttle: throttled
      ? { perSecond: read(flags, `${prefix}-throttle-qps`), burst: read(flags, `${prefix}-throttle-burst`) }
      : undefined,
  };
}

function readTruncation(flags: FlagValues, prefix: string): AuditBackendOptions['truncation'] {
  const maxEventBytes = positive(flags, `${prefix}-max-event-size`);
  const maxBatchBytes = positive(flags, `${prefix}-max-batch-size`);
  if (maxBatchBytes < maxEventBytes) {
    throw new UsageError(
      `--${prefix}-max-batch-size: ${maxBatchBytes} must not be less than --${prefix}-max-event-size, ${maxEventBytes}`,
    );
  }
  return flags.bool(`${prefix}-enabled`) ? { maxEventBytes, maxBatchBytes } : undefined;
}

const anyNumber: ReadNumber = (flags, name) => flags.number(name);

function positive(flags: FlagValues, name: string): number {
  const value = flags.number(name);
  if (value <= 0) throw new UsageError(`--${name}: ${value} must be greater than 0`);
  return value;
}

function notNegative(flags: FlagValues, name: string): number {
  const value = flags.number(name);
  if (value < 0) throw new UsageError(`--${name}: ${value} must not be negative`);
  return value;
}

function oneOf<T extends string>(flags: FlagValues, name: string, known: readonly T[]): T {
  const value = flags.string(name);
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  throw new UsageError(`--${name}: ${JSON.stringify(value)} must be one of ${known.join(', ')}`);
}
