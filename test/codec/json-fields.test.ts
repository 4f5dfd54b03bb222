import { expect, test } from 'vitest';
import { inOrderOfKeys, strictProblems } from '../../src/codec/json-fields.ts';

test('problems of strict decoding come in the order of the document, each once', () => {
  const json = `{"metadata":{"name":"a","name":"b","odd":{}},
    "spec":{"odd":1,"paused":true,"odd":{"x":1,"x":2},"paused":false,"paused":true,
      "containers":[{},{"nested":"a","image":"a","image":"b"}]},"last":1}`;
  const unknown = ['last', 'metadata.odd', 'spec.odd', 'spec.containers[1].nested'];
  expect(strictProblems(Buffer.from(json), unknown)).toEqual([
    'duplicate field "metadata.name"',
    'unknown field "metadata.odd"',
    'unknown field "spec.odd"',
    'duplicate field "spec.paused"',
    'unknown field "spec.containers[1].nested"',
    'duplicate field "spec.containers[1].image"',
    'unknown field "last"',
  ]);
});

test('of many problems a hundred are reported', () => {
  const keys = Array.from({ length: 150 }, (_, at) => `k${at}`);
  const json = `{"a":1,"a":2,${keys.map((key) => `"${key}":1`).join(',')}}`;
  const problems = strictProblems(Buffer.from(json), keys.slice(0, 100));
  expect(problems).toHaveLength(100);
  expect(problems.slice(0, 2)).toEqual(['duplicate field "a"', 'unknown field "k0"']);
});

test('paths are sorted step by step: keys by their letters, indexes by their number', () => {
  expect(inOrderOfKeys(['spec.b', 'spec.a[10].x', 'spec.a[2].x', 'spec.a-b', 'spec.a[2]', 'kinds'])).toEqual([
    'kinds',
    'spec.a[2]',
    'spec.a[2].x',
    'spec.a[10].x',
    'spec.a-b',
    'spec.b',
  ]);
});
