import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import { changesBetween } from '../../../src/history/changes.ts';
import { type Path, parsePath, takeOver, valueAtPath } from '../../../src/history/restore/restored-paths.ts';

import { atOnce } from '../../../src/util/turns.ts';
import { states } from '../changed-objects.ts';

/** Paths of a Restore: what they name, and what taking one over does. */
const path = (text: string): Path => {
  const parsed = parsePath(text);
  if (parsed === undefined) throw new Error(`${text} is no path`);
  return parsed;
};

const POD: JsonObject = {
  metadata: { annotations: { 'a.example/b': 'x' } },
  spec: {
    args: ['first', 'second'],
    containers: [
      { name: 'web', image: 'a', ports: [{ containerPort: 80, protocol: 'TCP', hostPort: 1 }] },
      { name: 'odd],name', image: 'b' },
    ],
  },
};

test('a path names a field, an element by its keys or its place, and a name that is no word', () => {
  const at = (text: string) => valueAtPath(POD, path(text));
  expect(at('spec.containers[name=web].image')).toBe('a');
  expect(at('spec.containers[name=web].ports[containerPort=80,protocol=TCP].hostPort')).toBe(1);
  expect(at('spec.containers[name=odd],name].image')).toBe('b');
  expect(at('spec.args[1]')).toBe('second');
  expect(at('metadata.annotations["a.example/b"]')).toBe('x');
  expect(at('spec.containers[name=other].image')).toBeUndefined();
  expect(at('spec.constructor')).toBeUndefined();
});

test.each([
  '',
  '.',
  'spec.',
  '.spec',
  'spec..a',
  'spec[',
  'spec[]',
  'spec["a]',
  'spec]a',
  'spec a',
  'spec[=a]',
])('%j is no path', (text) => {
  expect(parsePath(text)).toBeUndefined();
});

describe('what is taken over', () => {
  const taken = (now: JsonObject, then: JsonObject, ...texts: string[]) => {
    const object = structuredClone(now);
    const refusals = atOnce(takeOver(object, then, texts.map(path)));
    return { object, refusals: [...refusals] };
  };

  test('has its old value, and everything else its own', () => {
    const then = { spec: { replicas: 1, list: [{ name: 'a', image: 'old' }] } };
    const now = { spec: { replicas: 2, list: [{ name: 'b' }, { name: 'a', image: 'new', args: ['x'] }] } };
    expect(taken(now, then, 'spec.list[name=a].image')).toEqual({
      object: { spec: { replicas: 2, list: [{ name: 'b' }, { name: 'a', image: 'old', args: ['x'] }] } },
      refusals: [],
    });
  });

  test('is removed where it was absent', () => {
    const now = { metadata: { labels: { a: '1', b: '2' } }, list: [{ name: 'x' }, { name: 'y' }] };
    const then = { metadata: { labels: { b: '2' } }, list: [{ name: 'y' }] };
    expect(taken(now, then, 'metadata.labels.a', 'list[name=x]').object).toEqual(then);
    expect(taken({ list: ['a', 'b', 'c'] }, { list: ['a'] }, 'list[1]', 'list[2]').object).toEqual({
      list: ['a'],
    });
  });

  test('comes back with what it is in, and an element to its place', () => {
    const then = { metadata: { labels: { a: '1' } }, list: [{ name: 'x' }, { name: 'y' }, { name: 'z' }] };
    expect(taken({ metadata: {} }, then, 'metadata.labels.a').object).toEqual({
      metadata: { labels: { a: '1' } },
    });
    const { object } = taken({ list: [{ name: 'x' }, { name: 'z' }] }, then, 'list[name=y]');
    expect(object).toEqual({ list: then.list });
  });

  test('must be named, and must have something to be in', () => {
    const then = { list: [{ name: 'a', image: 'old' }] };
    expect(taken({ list: [] }, then, 'list[name=b]', 'list[name=a].image')).toEqual({
      object: { list: [] },
      refusals: [
        [0, 'names-nothing'],
        [1, 'parent-is-gone'],
      ],
    });
  });

  test('shares nothing with the earlier state, and makes no field of a prototype', () => {
    const then = { spec: JSON.parse('{"__proto__":{"polluted":true},"a":{"b":1}}') };
    const { object } = taken({ spec: {} }, then, 'spec.__proto__', 'spec.a');
    expect(Object.keys(object.spec as JsonObject)).toEqual(['__proto__', 'a']);
    expect((object.spec as JsonObject).polluted).toBeUndefined();
    (valueAtPath(object, path('spec.a')) as JsonObject).b = 2;
    expect(then.spec.a.b).toBe(1);
  });
});

test('any text is a path or none, and none of them stops anything', () => {
  const texts = fc.stringMatching(/^[a-c.[\]"=,0-9\\]{0,20}$/);
  fc.assert(
    fc.property(texts, fc.object(), fc.object(), (text, now, then) => {
      const parsed = parsePath(text);
      if (parsed !== undefined) atOnce(takeOver(now as JsonObject, then as JsonObject, [parsed]));
    }),
  );
});

test('every path of a change is understood, and no change is left when all are taken over', () => {
  fc.assert(
    fc.property(states, ([then, now]) => {
      // The path of an element without a key is its place, which moves.
      fc.pre(!JSON.stringify([then, now]).includes(':null'));
      const { changes } = atOnce(changesBetween(now, then));
      if (changes.some((change) => change.path === '')) return;
      const object = structuredClone(now);
      expect(
        atOnce(
          takeOver(
            object,
            then,
            changes.map((change) => path(change.path)),
          ),
        ).size,
      ).toBe(0);
      expect(atOnce(changesBetween(object, then)).changes).toEqual([]);
    }),
  );
});
