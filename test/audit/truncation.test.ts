import { expect, test } from 'vitest';
import type { AuditRecord } from '../../src/audit/audit-event.ts';
import { type AuditSink, splitBatches, truncateEvents } from '../../src/audit/sink.ts';
import { Losses, MemorySink, makeRecord } from './kit.ts';

const API = 'audit.k8s.io/v1';
const sizeOf = (record: AuditRecord): number => Buffer.byteLength(record.toJson(API));

function keep(): AuditSink & { readonly records: AuditRecord[] } {
  const records: AuditRecord[] = [];
  return {
    records,
    process: (more) => {
      records.push(...more);
      return true;
    },
    close: async () => {},
  };
}

test('an event that is too large loses its bodies and says so', () => {
  const sink = keep();
  const losses = new Losses();
  const big = makeRecord(
    'big',
    { annotations: { a: 'b' } },
    { responseObject: JSON.stringify('ü'.repeat(1000)) },
  );
  const small = makeRecord('small', {}, { requestObject: '{"a":1}' });
  const options = { maxEventBytes: sizeOf(big) - 1, maxBatchBytes: 1e6, apiVersion: API };
  expect(truncateEvents(sink, options, losses.report).process([big, small])).toBe(true);
  const [first, second] = sink.records.map((record) => JSON.parse(record.toJson(API)));
  expect(first).toMatchObject({ auditID: 'big', annotations: { a: 'b', 'audit.k8s.io/truncated': 'true' } });
  expect(first).not.toHaveProperty('responseObject');
  expect(second).toMatchObject({ auditID: 'small', requestObject: { a: 1 } });
  expect(second).not.toHaveProperty('annotations');
  expect(losses.lost).toEqual([]);
});

test('an event that is too large even then is lost, and no request fails for it', () => {
  const sink = keep();
  const losses = new Losses();
  const options = { maxEventBytes: 300, maxBatchBytes: 1e6, apiVersion: API };
  const long = 'x'.repeat(300);
  const records = [
    makeRecord('a', { requestURI: `/${long}` }, { requestObject: '{}' }),
    makeRecord('b', { requestURI: `/${long}`, level: 'Metadata' }),
  ];
  expect(truncateEvents(sink, options, losses.report).process(records)).toBe(true);
  expect(sink.records).toEqual([]);
  expect(losses.lost).toMatchObject([{ part: 'truncate', ids: ['a', 'b'] }]);
});

test('a batch that is too large goes as several, and one that fails fails all', async () => {
  const sink = new MemorySink();
  const size = sizeOf(makeRecord('a'));
  const splitting = splitBatches(sink, { maxEventBytes: size, maxBatchBytes: size * 2, apiVersion: API });
  const records = ['a', 'b', 'c', 'd', 'e'].map((id) => makeRecord(id));
  expect(await splitting.process(records)).toBe(true);
  expect(sink.batches).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  sink.gate = false;
  expect(await splitting.process(records)).toBe(false);
});
