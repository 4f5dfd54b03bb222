import { readFile } from 'node:fs/promises';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { AuditEvent, EventBodies } from '../audit/audit-event.ts';
import { AuditMetrics, createLossReport } from '../audit/audit-metrics.ts';
import { type Policy, parsePolicy } from '../audit/audit-policy.ts';
import { Auditor } from '../audit/auditor.ts';
import { LogSink, openLog } from '../audit/log-sink.ts';
import {
  type AuditSink,
  BatchingSink,
  ignoreFailures,
  type LossReport,
  splitBatches,
  truncateEvents,
  unite,
} from '../audit/sink.ts';
import { WebhookSink } from '../audit/webhook-sink.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import {
  type AuditBackendOptions,
  type AuditLogOptions,
  type AuditOptions,
  type AuditWebhookOptions,
  auditLogFlags,
  auditWebhookFlags,
} from '../options/audit.ts';
import { blameFlag, explainFlag } from '../options/flag.ts';
import { readClientConfig } from '../outbound/client-config.ts';
import type { Dial } from '../outbound/egress/dial.ts';
import { WebhookClient } from '../outbound/webhook-client.ts';
import { errorText } from '../util/error-text.ts';
import type { Egress } from './egress.ts';

interface AuditSurroundings {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly types: TypeLibrary;
  readonly egress: Egress;
}

/** What back ends lose is counted and logged. */
interface Losses {
  readonly metrics: AuditMetrics;
  readonly report: LossReport;
}

/** The auditor, and the back ends behind it. */
export interface Auditing {
  readonly auditor: Auditor;
  readonly sink: AuditSink;
}

/** Undefined: auditing is off, without a policy or a backend. @throws Error about invalid files */
export async function createAuditing(
  options: AuditOptions,
  { logger, metrics: { registry }, types, egress }: AuditSurroundings,
): Promise<Auditing | undefined> {
  const { policyFile, log, webhook } = options;
  if (policyFile === '') {
    if (log.path !== '' || webhook.configFile !== '') {
      const { shown } = auditLogFlags.policyFile;
      logger.warn(`no audit policy file is given (${shown}): no audit events are recorded`);
    }
    return undefined;
  }
  const policy = await readPolicy(policyFile);
  const metrics = new AuditMetrics(registry);
  const report = createLossReport({ logger, metrics });
  const losses = { metrics, report };
  const sinks = [
    ...(log.path === '' ? [] : [await createLog(log, logger, losses)]),
    ...(webhook.configFile === '' ? [] : [createWebhook(webhook, losses, egress.dials.controlplane)]),
  ];
  if (sinks.length === 0) return undefined;
  const sink = unite(sinks);
  return { auditor: new Auditor({ policy, sink, types, metrics, report, now: () => new Date() }), sink };
}

type SendRecords = (
  records: readonly { readonly event: AuditEvent; readonly bodies: EventBodies }[],
) => Promise<boolean>;

/** The auditor of a serving thread: it decides what is recorded, and the main thread has the back ends. */
export async function createThreadAuditor(
  { policyFile, log, webhook }: AuditOptions,
  { logger, metrics: { registry }, types }: AuditSurroundings,
  send: SendRecords,
): Promise<Auditor | undefined> {
  if (policyFile === '' || (log.path === '' && webhook.configFile === '')) return undefined;
  const metrics = new AuditMetrics(registry);
  const report = createLossReport({ logger, metrics });
  const sink: AuditSink = {
    process: (records) =>
      send(records.map(({ event, bodies }) => ({ event, bodies }))).catch((error: unknown) => {
        report('thread', error, records);
        return false;
      }),
    close: async () => {},
  };
  const policy = await readPolicy(policyFile);
  return new Auditor({ policy, sink, types, metrics, report, now: () => new Date() });
}

async function readPolicy(path: string): Promise<Policy> {
  try {
    return parsePolicy(await readFile(path, 'utf8'));
  } catch (error) {
    const why = errorText(error);
    throw new Error(`${auditLogFlags.policyFile.shown} ${path}: ${why}`, { cause: error });
  }
}

async function createLog(options: AuditLogOptions, logger: Logger, losses: Losses): Promise<AuditSink> {
  const { path, format, apiVersion } = options;
  const onTrouble = (error: unknown): void => logger.error('old audit logs', error);
  const writer = await openLog(path, { ...options, onTrouble }).catch((error: unknown) => {
    throw blameFlag(auditLogFlags.path.shown, error);
  });
  // Batches are appended one after the other.
  const sink = new LogSink(writer, { format, apiVersion, report: losses.report });
  return wrap(sink, options, { ...losses, backend: 'log', concurrency: 1 });
}

/** A webhook that takes longer for one batch counts as failed. */
const WEBHOOK_TIMEOUT_MS = 30_000;
/** Batches that are sent at once to a slow webhook. Each stays in memory until it is sent or given up. */
const MAX_SENDING = 16;

function createWebhook(options: AuditWebhookOptions, losses: Losses, dial: Dial | undefined): AuditSink {
  const { configFile, apiVersion, initialBackoffMs } = options;
  const { shown } = auditWebhookFlags.configFile;
  const client = explainFlag(shown, () => new WebhookClient(() => readClientConfig(configFile, dial)));
  const post = async (body: Buffer, signal: AbortSignal): Promise<void> => {
    // Only the status code counts: accepted events are not sent again because of a strange body.
    const { code } = await client.post(body, { signal, timeoutMs: WEBHOOK_TIMEOUT_MS, maxAnswerBytes: 0 });
    if (code < 200 || code > 299) throw new Error(`the audit webhook answered ${code}`);
  };
  const onClose = (): void => client.close();
  const sink = new WebhookSink({ apiVersion, initialBackoffMs, post, report: losses.report, onClose });
  const wrapped = wrap(sink, options, { ...losses, backend: 'webhook', concurrency: MAX_SENDING });
  return {
    process: (records) => wrapped.process(records),
    close: () => {
      sink.hurry();
      return wrapped.close();
    },
  };
}

interface WrapOptions extends Losses {
  readonly backend: 'log' | 'webhook';
  readonly concurrency: number;
}

function wrap(
  sink: AuditSink,
  { mode, batch, truncation, apiVersion }: AuditBackendOptions,
  { metrics, report, backend, concurrency }: WrapOptions,
): AuditSink {
  const limits = truncation === undefined ? undefined : { ...truncation, apiVersion };
  const inner = limits === undefined ? sink : splitBatches(sink, limits);
  const moded = toMode();
  return limits === undefined ? moded : truncateEvents(moded, limits, report);

  function toMode(): AuditSink {
    switch (mode) {
      case 'batch': {
        const { throttle, ...sizes } = batch;
        const limited = throttle === undefined ? sizes : { ...sizes, throttle };
        const buffered = new BatchingSink(inner, { ...limited, concurrency, report });
        metrics.showBuffer(backend, () => buffered.state);
        return buffered;
      }
      case 'blocking':
        return ignoreFailures(inner);
      case 'blocking-strict':
        return inner;
      default:
        return mode satisfies never;
    }
  }
}
