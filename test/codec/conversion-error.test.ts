import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { conversionError } from '../../src/codec/conversion-error.ts';

const types = loadTypes();
const QUANTITY =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const container = (value: object): JsonObject =>
  ({ spec: { template: { spec: { containers: [value] } } } }) as JsonObject;

test.each<[JsonObject, string | undefined]>([
  [{ spec: { replicas: 3, selector: { matchLabels: { a: 'b' } } } }, undefined],
  [{ spec: null, metadata: null }, undefined],
  [{ metadata: 'x' }, 'cannot restore struct from: string'],
  [{ metadata: { labels: 'x' } }, 'cannot restore map from string'],
  [{ metadata: { labels: [1.5] } }, 'cannot restore map from slice'],
  [{ metadata: { finalizers: { a: 1 } } }, 'cannot restore slice from map'],
  [{ metadata: { name: 1.5 } }, 'unrecognized type: string'],
  [{ metadata: { name: 1 } }, 'cannot convert int64 to string'],
  [{ apiVersion: true }, 'unrecognized type: string'],
  [{ spec: { paused: 1 } }, 'unrecognized type: bool'],
  [{ spec: { replicas: 1.5 } }, 'cannot convert float64 to int32'],
  [{ spec: { replicas: '1' } }, 'unrecognized type: int32'],
  [{ spec: 5, metadata: true }, 'cannot restore struct from: bool'],
  [container({ resources: { limits: { cpu: 'x' } } }), QUANTITY],
  [container({ resources: { limits: { cpu: [] } } }), QUANTITY],
  [container({ env: [null, 'x'] }), 'cannot restore struct from: string'],
  [
    container({ livenessProbe: { httpGet: { port: true } } }),
    'json: cannot unmarshal bool into Go value of type int32',
  ],
  [{ metadata: { creationTimestamp: 5 } }, 'json: cannot unmarshal number into Go value of type string'],
])('%j: %s', (value, error) => {
  expect(conversionError(value, types.message('apps/v1.Deployment'))).toBe(error);
});
