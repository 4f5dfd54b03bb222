import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const read = (file: string): string => readFileSync(join(DIST, file), 'utf8');

/** The bundles that are loaded with one, without those that it loads later. */
function loadedWith(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, next = ''] of read(file).matchAll(/^(?:import|export) .*"\.\/(pg-apiserver[^"]*)";$/gm))
    loadedWith(next, found);
  return found;
}

const kilobytes = (file: string): number =>
  [...loadedWith(file)].reduce((sum, each) => sum + read(each).length, 0) / 1000;

test('what asks for a version, and the stand-in for etcd, load no server', () => {
  expect(kilobytes('pg-apiserver.js')).toBeLessThan(100);
  expect(kilobytes('pg-apiserver-etcd.js')).toBeLessThan(200);
  expect([...loadedWith('pg-apiserver-serve.js')].length).toBeGreaterThan(5);
});

test('a command loads at most two thirds of what a server does', () => {
  const server = kilobytes('pg-apiserver-serve.js');
  for (const name of ['migrate', 'doctor', 'export', 'health'])
    expect(kilobytes(`pg-apiserver-${name}.js`), name).toBeLessThan((server * 2) / 3);
});

test('a server loads neither tracing nor the debug socket, which few have', () => {
  const holding = (text: string): string[] =>
    globSync('pg-apiserver*.js', { cwd: DIST }).filter((file) => read(file).includes(text));
  const loaded = loadedWith('pg-apiserver-serve.js');
  for (const text of ['"@opentelemetry/api"', 'getRequestListener']) {
    expect(holding(text), text).toHaveLength(1);
    expect(
      holding(text).filter((file) => loaded.has(file)),
      text,
    ).toEqual([]);
  }
});

test('bundles are ASCII, and import node:http from nowhere, which would load fetch with it', () => {
  const bundles = globSync('pg-apiserver*.js', { cwd: DIST }).filter(
    (file) => !/-(testing|yaml-thread)\./.test(file),
  );
  expect(bundles.length).toBeGreaterThan(10);
  for (const file of bundles)
    expect(/[^\0-\x7F]|^import .* from "(node:)?http";$/m.test(read(file)), file).toBe(false);
});
