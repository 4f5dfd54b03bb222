import { describe, expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { encodeItem, encodeMessage } from '../../src/codec/protobuf/encoder.ts';
import { encodeStored, encodeStoredItem } from '../../src/codec/protobuf/transcoder.ts';
import {
  findMetadataEnd,
  parseStored,
  parseStoredMetadata,
  toStoredJson,
} from '../../src/codec/stored-object.ts';
import { RandomObjects } from './random-object.ts';

const types = loadTypes();
const VERSION = '42';

const store = (object: JsonObject): Buffer => toStoredJson(object as ApiObject);

/** What the parsed object is encoded as. */
const encoded = (json: Buffer, type: string): Buffer =>
  encodeMessage(parseStored(json, VERSION), types.message(type));

function transcoded(json: Buffer, type: string): Buffer | undefined {
  const bytes = encodeStored({ json, end: json.length, resourceVersion: VERSION }, types.message(type));
  return bytes && Buffer.from(bytes);
}

const meta = (more: JsonObject = {}): JsonObject => ({ name: 'web', namespace: 'default', ...more });

const configMap = (data: JsonObject, more: JsonObject = {}): JsonObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: meta(more),
  data,
});

const pod = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: meta(more),
  spec,
});

const TYPES = [
  'core/v1.Pod',
  'core/v1.Node',
  'core/v1.Service',
  'core/v1.Secret',
  'core/v1.Event',
  'core/v1.PersistentVolume',
  'apps/v1.Deployment',
  'apps/v1.ControllerRevision',
  'batch/v1.CronJob',
  'coordination/v1.Lease',
  'rbac/v1.ClusterRole',
  'networking/v1.NetworkPolicy',
  'apiextensions/v1.CustomResourceDefinition',
  'admissionregistration/v1.ValidatingAdmissionPolicy',
];

test.each(TYPES)('the stored bytes of %s become what its objects become', (type) => {
  let direct = 0;
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = new RandomObjects(seed).object(types.message(type));
    const json = store({
      ...random,
      kind: 'Kind',
      apiVersion: 'v1',
      metadata: { ...meta(), ...(random.metadata as JsonObject) },
    });
    const bytes = transcoded(json, type);
    if (bytes === undefined) continue;
    direct += 1;
    expect(bytes.equals(encoded(json, type)), json.toString()).toBe(true);
  }
  expect(direct).toBeGreaterThan(50);
});

describe('bytes are the same, and no object is made, for', () => {
  const cases: Record<string, readonly [type: string, object: JsonObject]> = {
    'texts with escapes and of other scripts': [
      'core/v1.ConfigMap',
      configMap({ a: 'line\nline "quoted" \\ \u0001', b: 'größer 日本 😀', c: '', d: '\ud800' }),
    ],
    'keys in another order': ['core/v1.ConfigMap', configMap({ b: '1', a: '2', 'a.b': '3', B: '4' })],
    'many keys in another order': [
      'core/v1.ConfigMap',
      configMap(
        Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`key${(at * 7) % 200}`, String(at)])),
      ),
    ],
    'keys that are not ASCII': ['core/v1.ConfigMap', configMap({ a: '1', '\uff5e': '2', '😀': '3' })],
    'a key that is that of sets': ['core/v1.ConfigMap', configMap({ fieldsV1: '{"a":1}' })],
    'large, negative and zero numbers': [
      'core/v1.Pod',
      pod({
        priority: -5,
        terminationGracePeriodSeconds: 9007199254740993n,
        activeDeadlineSeconds: 0,
        containers: [],
      }),
    ],
    'numbers and texts as ports': [
      'core/v1.Pod',
      pod({
        containers: [
          {
            name: 'a',
            livenessProbe: { httpGet: { port: 8080 } },
            readinessProbe: { tcpSocket: { port: 'http' } },
          },
          { name: 'b', resources: { limits: { cpu: '1', memory: '1Gi' } }, env: [] },
        ],
      }),
    ],
    'fields out of order, unknown ones and nulls': [
      'core/v1.Pod',
      {
        ...pod({
          nodeName: 'a',
          volumes: null,
          unknown: { a: [1, { b: null }] },
          containers: [{ image: 'i', name: 'n' }],
        }),
      },
    ],
    'times of all kinds': [
      'core/v1.Pod',
      pod(
        { containers: [] },
        {
          creationTimestamp: '2024-02-29T23:59:59Z',
          deletionTimestamp: '1969-12-31T23:59:59Z',
          generation: 3,
        },
      ),
    ],
    'sets of fields, twice the same and others': [
      'core/v1.Pod',
      pod(
        { containers: [] },
        {
          managedFields: ['f:spec', 'f:spec', 'f:status', '}"{'].map((name) => ({
            manager: 'm',
            operation: 'Update',
            fieldsV1: { [name]: { '.': {}, 'k:{"name":"a"}': {} } },
          })),
        },
      ),
    ],
    'a set that begins as another one': [
      'core/v1.Pod',
      pod(
        { containers: [] },
        {
          managedFields: [
            { manager: 'a', fieldsV1: {} },
            { manager: 'b', fieldsV1: { 'f:a': {} } },
            { manager: 'c', fieldsV1: { 'f:a': {}, 'f:b': {} } },
          ],
        },
      ),
    ],
  };
  test.each(Object.entries(cases))('%s', (_, [type, object]) => {
    const json = store(object);
    const bytes = transcoded(json, type);
    expect(bytes?.toString('hex')).toBe(encoded(json, type).toString('hex'));
  });

  test('metadata alone, behind tag and length', () => {
    const type = 'meta/v1.PartialObjectMetadata';
    const json = store(pod({ nodeName: 'a', containers: [] }, { labels: { app: 'web' } }));
    const end = findMetadataEnd(json);
    const schema = types.message(type);
    const bytes = encodeStoredItem({ json, end, resourceVersion: VERSION }, schema, 2);
    const metadata = parseStoredMetadata(json, end, VERSION);
    expect(bytes?.toString('hex')).toBe(encodeItem({ metadata }, schema, 2).toString('hex'));
  });

  test('an object of a dry run, which has no version', () => {
    const json = store(configMap({ a: '1' }));
    const bytes = encodeStored(
      { json, end: json.length, resourceVersion: '' },
      types.message('core/v1.ConfigMap'),
    );
    expect(bytes?.toString('hex')).toBe(
      encodeMessage(parseStored(json), types.message('core/v1.ConfigMap')).toString('hex'),
    );
  });
});

describe('the encoder is left', () => {
  const text = (content: string): Buffer => Buffer.from(content);
  const head = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{';
  const cases: Record<string, Buffer> = {
    'objects that are large': store(configMap({ a: 'x'.repeat(300 * 1024) })),
    'objects without metadata': text('{"kind":"ConfigMap","apiVersion":"v1"}'),
    'empty metadata': text(`${head}},"data":{"a":"1"}}`),
    'null values of maps': text(`${head}"name":"a","labels":{"b":null}}}`),
    'white space': text(`${head}"name":"a"}, "data":{"a":"1"}}`),
    'null items': text(`${head}"name":"a","finalizers":["a",null]}}`),
    'values of another kind': text(`${head}"name":"a"},"data":["a"]}`),
    'keys with escapes': text(`${head}"name":"a"},"data":{"a\\n":"1"}}`),
    'too deep an object': text(`${head}"name":"a","x":${'['.repeat(300)}${']'.repeat(300)}}}`),
  };
  for (const [name, whole] of Object.entries(cases)) {
    test(name, () => expect(transcoded(whole, 'core/v1.ConfigMap')).toBeUndefined());
  }

  test('texts that are cut off anywhere, and damaged ones do no harm', () => {
    const json = store(pod({ containers: [{ name: 'a', tty: true, env: [{ name: 'B', value: 'c\n' }] }] }));
    for (let end = json.indexOf('"metadata":{'); end < json.length; end += 1) {
      const cut = json.subarray(0, end);
      expect(transcoded(cut, 'core/v1.Pod'), cut.toString()).toBeUndefined();
      for (const byte of '{}[]",:\\x0') {
        const changed = Buffer.from(json);
        changed[end] = byte.charCodeAt(0);
        expect(() => transcoded(changed, 'core/v1.Pod'), changed.toString()).not.toThrow();
      }
    }
  });

  test('two equal keys of a map, of which the last one counts', () => {
    const json = text(`${head}"name":"a"},"data":{"b":"1","a":"2","b":"3"}}`);
    expect(transcoded(json, 'core/v1.ConfigMap')?.equals(encoded(json, 'core/v1.ConfigMap'))).toBe(true);
  });

  test('the encoder works after an object was given up half-way', () => {
    const json = store(configMap({ a: '1' }));
    expect(
      transcoded(text(`${head}"name":"a","finalizers":["a",null]}}`), 'core/v1.ConfigMap'),
    ).toBeUndefined();
    expect(transcoded(json, 'core/v1.ConfigMap')?.equals(encoded(json, 'core/v1.ConfigMap'))).toBe(true);
  });
});
