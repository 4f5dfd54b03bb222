import { expect, test } from 'vitest';
import { canBePutBack, enclosing, isWithin, touchedBy } from '../../src/console/model/changed-paths.ts';

test('a path is within itself and what it is a part of, and not within what only begins alike', () => {
  expect(isWithin('spec.replicas', 'spec')).toBe(true);
  expect(isWithin('spec.containers[name=web].image', 'spec.containers[name=web]')).toBe(true);
  expect(isWithin('spec', 'spec')).toBe(true);
  expect(isWithin('specials', 'spec')).toBe(false);
});

test('the nearest path that encloses a field is found, through brackets with dots in them', () => {
  const paths = new Set([
    'metadata.annotations',
    'metadata.annotations["a.b/c"]',
    'spec.containers[name=a.b]',
  ]);
  expect(enclosing('metadata.annotations["a.b/c"]', paths)).toBe('metadata.annotations["a.b/c"]');
  expect(enclosing('metadata.annotations["a.b/d"]', paths)).toBe('metadata.annotations');
  expect(enclosing('spec.containers[name=a.b].image', paths)).toBe('spec.containers[name=a.b]');
  expect(enclosing('metadata.labels', paths)).toBeUndefined();
});

test('what was wished chooses its parts, and what it is a part of', () => {
  expect(touchedBy(['data.a', 'data.b', 'spec'], ['data', 'spec.replicas'])).toEqual([
    'data.a',
    'data.b',
    'spec',
  ]);
  expect(touchedBy(['data.a'], ['data.ab'])).toEqual([]);
});

test('what the server alone writes is not offered to be put back', () => {
  expect(['', 'kind', 'metadata.generation', 'metadata.uid', 'metadata'].filter(canBePutBack)).toEqual([]);
  const own = ['spec', 'data["a"]', 'metadata.labels.app', 'metadata.annotations', 'metadataOfMine'];
  expect(own.filter(canBePutBack)).toEqual(own);
});
