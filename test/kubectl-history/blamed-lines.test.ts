import { expect, test } from 'vitest';
import { toBlamedLines } from '../../src/kubectl-history/blamed-lines.ts';
import { isWithin, parsePath } from '../../src/kubectl-history/path-segments.ts';

const textOf = (fields: Record<string, unknown>): string[] =>
  toBlamedLines(Object.entries(fields).map(([path, value]) => ({ path, value: value as string }))).map(
    ({ text }) => text,
  );

test('an object is put together from its fields', () => {
  expect(
    textOf({
      'metadata.labels["app.kubernetes.io/name"]': 'web',
      'metadata.finalizers': [],
      'spec.rules[0].host': 'a.example',
      'spec.rules[0].paths[path=/].backend': 'x',
      'spec.rules[1].host': 'b.example',
      'data["app.conf"]': 'a=1\nb=2\n',
      'data.yes': 'true',
    }),
  ).toEqual([
    'metadata:',
    '  labels:',
    '    app.kubernetes.io/name: web',
    '  finalizers: []',
    'spec:',
    '  rules:',
    '  - host: a.example',
    '    paths:',
    '    - backend: x',
    '  - host: b.example',
    'data:',
    '  app.conf: |',
    '    a=1',
    '    b=2',
    '  "yes": "true"',
  ]);
});

test('fields that fit together in no way are shown by their paths', () => {
  expect(textOf({ 'a.b': 1, 'a.b.c': 2, 'a[0]': 3, '..': 4, '': 5 })).toEqual([
    'a:',
    '  b: 1',
    'a.b.c: 2',
    'a[0]: 3',
    '..: 4',
    ': 5',
  ]);
});

test('a key may have dots, slashes and quotes in it', () => {
  expect(parsePath('spec.list[key=a.b/c,other="d"].value["x\\"]."]')).toEqual([
    { kind: 'field', name: 'spec' },
    { kind: 'field', name: 'list' },
    { kind: 'element', key: 'key=a.b/c,other="d"' },
    { kind: 'field', name: 'value' },
    { kind: 'field', name: 'x"].' },
  ]);
});

test('a path is within itself and what is around it, and not within what only begins like it', () => {
  expect(isWithin('spec.replicas', 'spec')).toBe(true);
  expect(isWithin('spec.list[name=a].b', '.spec.list')).toBe(true);
  expect(isWithin('spec.replicas', 'spec.replicas')).toBe(true);
  expect(isWithin('spec.replicasMax', 'spec.replicas')).toBe(false);
});
