import { expect, test } from 'vitest';
import { WebhookSink } from '../../src/audit/webhook-sink.ts';
import { Losses, makeRecord } from './kit.ts';

function start(failures: number) {
  const posted: unknown[] = [];
  const waits: number[] = [];
  const losses = new Losses();
  const sink = new WebhookSink({
    apiVersion: 'audit.cluster.io/v1',
    initialBackoffMs: 1000,
    post: async (body) => {
      posted.push(JSON.parse(body.toString()));
      if (posted.length <= failures) throw new Error(`failure ${posted.length}`);
    },
    report: losses.report,
    onClose: () => {},
    pauseFor: async (ms) => {
      waits.push(Math.round(ms));
    },
    random: () => 0.5,
  });
  return { sink, posted, waits, losses };
}

test('events go as one list in the version asked for', async () => {
  const { sink, posted } = start(0);
  expect(await sink.process([makeRecord('a', {}, { requestObject: '{"x":1}' }), makeRecord('b')])).toBe(true);
  expect(posted).toEqual([
    {
      kind: 'EventList',
      apiVersion: 'audit.cluster.io/v1',
      metadata: {},
      items: [
        expect.objectContaining({ auditID: 'a', requestObject: { x: 1 } }),
        expect.not.objectContaining({ kind: 'Event' }),
      ],
    },
  ]);
});

test('a failed post comes again, each time later', async () => {
  const { sink, posted, waits, losses } = start(4);
  expect(await sink.process([makeRecord('a')])).toBe(true);
  expect(posted).toHaveLength(5);
  expect(waits).toEqual([1100, 1650, 2475, 3713]);
  expect(losses.lost).toEqual([]);
});

test('after five tries the events are lost and counted', async () => {
  const { sink, posted, losses } = start(100);
  expect(await sink.process([makeRecord('a')])).toBe(false);
  expect(posted).toHaveLength(5);
  expect(losses.lost).toEqual([{ part: 'webhook', ids: ['a'], error: 'Error: failure 5' }]);
});
