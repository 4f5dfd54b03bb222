import { expect, test } from 'vitest';
import { findMetadataEnd, readMetadataField } from '../../src/codec/stored-object.ts';

const METADATA = {
  name: 'a',
  annotations: { labels: '{"labels":{"no":"no"}}', 'quote"{': '\\"}{,' },
  labels: { app: 'größe', 'a/b': '"' },
  finalizers: ['x'],
  generation: 3,
  deletionTimestamp: null,
  ownerReferences: [{ uid: 'u', labels: {} }],
};
const json = Buffer.from(
  JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata: METADATA, spec: { labels: { no: 'no' } } }),
);

test('a field of metadata is read from the bytes, with any text around it', () => {
  for (const [name, value] of Object.entries(METADATA)) {
    expect(JSON.parse(readMetadataField(json, name) ?? ''), name).toEqual(value);
  }
  expect(readMetadataField(json, 'label')).toBeUndefined();
  expect(readMetadataField(json, 'spec')).toBeUndefined();
  expect(readMetadataField(Buffer.from('{"kind":"X","metadata":{}}'), 'labels')).toBeUndefined();
});

test('metadata ends where it ends', () => {
  const head = '{"kind":"Pod","apiVersion":"v1","metadata":{';
  const end = findMetadataEnd(json);
  expect(JSON.parse(json.toString('utf8', head.length - 1, end))).toEqual(METADATA);
});
