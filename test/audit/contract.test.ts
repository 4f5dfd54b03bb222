import { describe, expect, test } from 'vitest';
import type { AuditRecord } from '../../src/audit/audit-event.ts';
import { LogSink } from '../../src/audit/log-sink.ts';
import {
  type AuditSink,
  BatchingSink,
  ignoreFailures,
  splitBatches,
  truncateEvents,
  unite,
} from '../../src/audit/sink.ts';
import { WebhookSink } from '../../src/audit/webhook-sink.ts';
import { Losses, makeRecord } from './kit.ts';

/** What every audit back end promises, and every wrapper around one. */

const apiVersion = 'audit.k8s.io/v1';

/** Where everything ends: it keeps the ids of what arrives, and can be out of order. */
class Destination {
  readonly arrived: string[] = [];
  isBroken = false;
  isClosed = false;

  async take(text: string): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.isBroken) throw new Error('out of order');
    this.arrived.push(...[...text.matchAll(/"auditID":"(\w+)"/g)].map(([, id = '']) => id));
  }

  close(): void {
    this.isClosed = true;
  }
}

type Open = (destination: Destination, losses: Losses) => AuditSink;

const openLog: Open = (destination, { report }) =>
  new LogSink(
    { write: (text) => destination.take(text), close: async () => destination.close() },
    { format: 'json', apiVersion, report },
  );

const openWebhook: Open = (destination, { report }) =>
  new WebhookSink({
    apiVersion,
    initialBackoffMs: 1,
    post: (body) => destination.take(body.toString()),
    report,
    onClose: () => destination.close(),
    pauseFor: async () => {},
  });

const limits = { maxEventBytes: 10_000, maxBatchBytes: 1000, apiVersion };
const batches = { bufferSize: 1000, maxBatchSize: 3, maxBatchWaitMs: 1, concurrency: 1 };

const SINKS: readonly (readonly [string, Open])[] = [
  ['the log', openLog],
  ['the webhook', openWebhook],
  [
    'batches to the webhook',
    (to, losses) => new BatchingSink(openWebhook(to, losses), { ...batches, report: losses.report }),
  ],
  ['truncated events to the log', (to, losses) => truncateEvents(openLog(to, losses), limits, losses.report)],
  ['split batches to the webhook', (to, losses) => splitBatches(openWebhook(to, losses), limits)],
  ['several', (to, losses) => unite([openLog(to, losses)])],
  ['one whose failures are ignored', (to, losses) => ignoreFailures(openLog(to, losses))],
  [
    'all together',
    (to, losses) => {
      const split = splitBatches(openWebhook(to, losses), limits);
      return truncateEvents(
        new BatchingSink(split, { ...batches, report: losses.report }),
        limits,
        losses.report,
      );
    },
  ],
];

const ids = Array.from({ length: 20 }, (_, n) => `r${n}`);
const records = (some: readonly string[]): AuditRecord[] => some.map((id) => makeRecord(id));

function open(create: Open) {
  const destination = new Destination();
  const losses = new Losses();
  return { destination, losses, sink: create(destination, losses) };
}

describe.each(SINKS)('%s', (_, create) => {
  test('what it has taken has arrived when it is closed, once and in order, and nothing is lost', async () => {
    const { destination, losses, sink } = open(create);
    for (let at = 0; at < ids.length; at += 5) {
      const isStored = sink.process(records(ids.slice(at, at + 5)));
      expect(await isStored).toBe(true);
    }
    await sink.close();
    expect(destination.arrived).toEqual(ids);
    expect(losses.lost).toEqual([]);
    expect(destination.isClosed).toBe(true);
  });

  test('a destination that is out of order throws no error: each record is reported lost, once', async () => {
    const { destination, losses, sink } = open(create);
    destination.isBroken = true;
    await sink.process(records(ids.slice(0, 5)));
    await sink.close();
    expect(losses.lost.flatMap((loss) => loss.ids)).toEqual(ids.slice(0, 5));
    expect(destination.arrived).toEqual([]);
  });

  test('what follows a loss arrives', async () => {
    const { destination, losses, sink } = open(create);
    destination.isBroken = true;
    await sink.process(records(ids.slice(0, 3)));
    while (losses.lost.flatMap((loss) => loss.ids).length < 3)
      await new Promise((resolve) => setTimeout(resolve, 1));
    destination.isBroken = false;
    await sink.process(records(ids.slice(3, 6)));
    await sink.close();
    expect(destination.arrived).toEqual(ids.slice(3, 6));
  });

  test('no records are nothing to store', async () => {
    const { losses, sink } = open(create);
    expect(await sink.process([])).toBe(true);
    await sink.close();
    expect(losses.lost).toEqual([]);
  });
});

test('a back end of which a request must know says that a record was not stored', async () => {
  for (const create of [openLog, openWebhook]) {
    const { destination, sink } = open(create);
    destination.isBroken = true;
    expect(await sink.process(records(['a']))).toBe(false);
    const { sink: other } = open(openLog);
    expect(await unite([other, sink]).process(records(['a']))).toBe(false);
    expect(await splitBatches(sink, limits).process(records(['a', 'b']))).toBe(false);
    expect(await truncateEvents(sink, limits, () => {}).process(records(['a']))).toBe(false);
  }
});
