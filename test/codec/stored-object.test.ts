import { expect, test } from 'vitest';
import type { ApiObject } from '../../src/api/object-meta.ts';
import { parseStored, toStoredJson } from '../../src/codec/stored-object.ts';

const STORED = '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","uid":"u"},"spec":{"é":1}}';

test('the stored form is the same in whatever order the head comes, and with or without a version', () => {
  const spec = { é: 1 };
  const objects: ApiObject[] = [
    { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'web', uid: 'u' }, spec },
    { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '7', name: 'web', uid: 'u' }, spec },
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', uid: 'u' }, spec },
    { spec, metadata: { name: 'web', uid: 'u', resourceVersion: '7' }, apiVersion: 'v1', kind: 'Pod' },
    parseStored(Buffer.from(STORED), '8'),
    parseStored(Buffer.from(STORED)),
  ];
  for (const object of objects) expect(toStoredJson(object).toString()).toBe(STORED);
});

test('writing an object down leaves it as it was', () => {
  const object = parseStored(Buffer.from(STORED), '8');
  toStoredJson(object);
  expect(object.metadata.resourceVersion).toBe('8');
});
