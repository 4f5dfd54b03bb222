import { expect, test } from 'vitest';
import { colourOf, createBlame, recencyOf } from '../../src/console/model/blame-colours.ts';
import { toLines } from '../../src/console/model/yaml.ts';

const blamed = (object: Parameters<typeof toLines>[0], paths: readonly string[]): (string | undefined)[] => {
  const blame = createBlame(paths.map((path, index) => ({ path, revision: String(index + 1) })));
  return toLines(object, blame.nameElement)
    .filter(({ path }) => path !== undefined)
    .map(({ path }) => blame.fieldAt(path ?? '')?.revision);
};

test('a line is blamed on the revision of its field, with every kind of key of a list', () => {
  const object = {
    spec: {
      containers: [
        { image: 'a:1', name: 'a' },
        { image: 'b:1', name: 'b' },
      ],
      ports: [
        { port: 53, protocol: 'TCP' },
        { port: 53, protocol: 'UDP' },
      ],
      rules: [{ hosts: ['x', 'y'] }],
    },
  };
  const paths = [
    ...['spec.containers[name=a].image', 'spec.containers[name=a].name'],
    ...['spec.containers[name=b].image', 'spec.containers[name=b].name'],
    ...['spec.ports[port=53,protocol=TCP].port', 'spec.ports[port=53,protocol=TCP].protocol'],
    ...['spec.ports[port=53,protocol=UDP].port', 'spec.ports[port=53,protocol=UDP].protocol'],
    'spec.rules[0].hosts',
  ];
  expect(blamed(object, paths)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '9']);
});

test('a value with brackets and dots of its own is found as well', () => {
  const object = { volumeMounts: [{ mountPath: '/a].b[0]', name: 'x' }], data: { 'k.e]y': 'v' } };
  const paths = [
    'volumeMounts[mountPath=/a].b[0]].mountPath',
    'volumeMounts[mountPath=/a].b[0]].name',
    'data["k.e]y"]',
  ];
  expect(blamed(object, paths)).toEqual(['1', '2', '3']);
});

test('a field without a known author names none', () => {
  expect(blamed({ a: 1, b: [{ name: 'x' }] }, ['a'])).toEqual(['1', undefined]);
});

test('the newest is the newest, and an author keeps a colour', () => {
  const recency = recencyOf(['2026-01-01', '2026-03-01', '2026-02-01', '2026-03-01']);
  expect(['2026-01-01', '2026-02-01', '2026-03-01'].map(recency)).toEqual([0, 0.5, 1]);
  expect(colourOf('alice', 8)).toBe(colourOf('alice', 8));
  expect(colourOf('alice', 8)).toBeLessThan(8);
});
