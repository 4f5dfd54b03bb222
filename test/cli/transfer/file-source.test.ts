import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import { describe } from '../../../src/cli/transfer/describe.ts';
import { toDocument } from '../../../src/cli/transfer/documents.ts';
import { FileSource } from '../../../src/cli/transfer/file-source.ts';
import { Refused, Shaped, Shapes } from '../../../src/cli/transfer/shapes.ts';
import { ShapingThreads } from '../../../src/cli/transfer/shaping-threads.ts';
import { NEVER } from '../../../src/util/pause.ts';
import { definitionOf } from '../../kit/definitions.ts';

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-file-source-'));
afterAll(() => rmSync(folder, { recursive: true }));

const uid = (digit: number): string => `00000000-0000-4000-8000-${String(digit).padStart(12, '0')}`;

const objectOf = (kind: string, number: number, more: JsonObject = {}): JsonObject => ({
  ...{ kind, apiVersion: kind === 'Widget' ? 'stable.example.com/v1' : 'v1' },
  metadata: {
    name: `n${number}`,
    namespace: 'default',
    uid: uid(number),
    creationTimestamp: '2020-01-01T00:00:00Z',
  },
  ...more,
});

function writeFile(name: string, objects: readonly JsonObject[]): string {
  const path = join(folder, name);
  writeFileSync(path, objects.map(toDocument).join(''));
  return path;
}

async function read(path: string, signal = NEVER) {
  const source = new FileSource(path, { shapes: new Shapes(), signal });
  const labels: string[] = [];
  const taken: string[] = [];
  for await (const { label, objects } of source.read()) {
    if (labels.at(-1) !== label) labels.push(label);
    for (const one of objects)
      if (one instanceof Shaped) taken.push(`${describe(one.key)} ${one.digest} ${one.json.toString()}`);
      else if (one instanceof Refused) taken.push(`${one.name}: ${one.reason}`);
  }
  return { labels, taken, unread: source.unread, source };
}

let threads = 0;
const count = (thread: Worker): void => {
  threads += 1;
  thread.once('exit', () => {
    threads -= 1;
  });
};
process.on('worker', count);
afterAll(() => void process.off('worker', count));

const definition: JsonObject = {
  ...{ kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1' },
  ...definitionOf({ plural: 'widgets', kind: 'Widget' }),
};
/** Threads shape what has 2,000 objects. */
const many = Array.from({ length: 2100 }, (_, at) =>
  objectOf('ConfigMap', at, { data: { at: String(at), text: '€'.repeat(at % 300) } }),
);
const others = [
  objectOf('Widget', 5000, { size: 1, unknown: { a: 1 } }),
  definition,
  objectOf('ConfigMap', 5001, { data: 7 }),
  objectOf('Gadget', 5002),
];

test('threads shape objects as one thread does, those of definitions in the same file too, and end', {
  tags: 'long',
}, async () => {
  const fewPath = writeFile('few.yaml', others);
  const few = await read(fewPath);
  const path = writeFile('all.yaml', [...many, ...others]);
  writeFileSync(path, '---\napiVersion: v1\nkind: ConfigMap\na: b: c\n', { flag: 'a' });
  const all = await read(path);
  expect(all.unread).toEqual([
    { name: `${path}, document 2106`, reason: expect.stringContaining('yaml: line 3: ') },
  ]);
  const withoutMany = all.taken.filter(
    (one) => !/^configmaps default\/n\d{1,4} /.test(one) || /n500\d /.test(one),
  );
  const timed = (lines: string[]): string[] =>
    lines
      .filter((one) => !one.startsWith('customresourcedefinitions'))
      .map((one) => one.replace(/ \(\S+\.yaml, document \d+\)/, ''))
      .sort();
  expect(timed(withoutMany)).toEqual(timed(few.taken));
  expect(few.taken.join('\n')).toMatch(/widgets\.stable\.example\.com default\/n5000 /);
  expect(few.taken.join('\n')).toContain(
    `ConfigMap default/n5001 (${fewPath}, document 4): it has not the form of its type`,
  );
  expect(all.taken.join('\n')).toContain(
    `Gadget default/n5002 (${path}, document 2105): there is neither a built-in type`,
  );
  expect(all.labels[0]).toBe('CustomResourceDefinition');
  const names = all.taken.filter((one) => one.startsWith('configmaps ')).map((one) => one.split(' ')[1]);
  expect(names).toEqual(many.map((_, at) => `default/n${at}`));
  expect(all.taken.find((one) => one.startsWith('configmaps default/n299 '))).toContain('€'.repeat(299));
  expect(threads).toBe(0);
});

test('what cannot be read is named, and the rest is given', async () => {
  const few = many.slice(0, 2);
  const path = writeFile('mistakes.yaml', few);
  expect((await read(path)).source.uids).toEqual(new Set([uid(0), uid(1)]));
  writeFileSync(path, '---\napiVersion: v1\nkind: Pod\na: b: c\n---\na: b: c\n', { flag: 'a' });
  expect((await read(path)).source.uids).toBeUndefined();
  const { taken, unread, source } = await read(path);
  expect(taken).toHaveLength(few.length);
  expect(unread).toEqual([
    {
      name: `${path}, document 5`,
      reason: expect.stringMatching(/^yaml: .*mapping values are not allowed/),
    },
    {
      name: `${path}, document 4`,
      reason: expect.stringMatching(/^yaml: line 3: mapping values are not allowed/),
    },
  ]);
  for await (const _ of source.read());
  expect(source.unread).toHaveLength(2);
  expect(source.covers({ group: '', resource: 'configmaps', namespace: 'default', name: 'x' })).toBe(true);
  expect(source.covers({ group: '', resource: 'configmaps', namespace: 'other', name: 'x' })).toBe(false);
});

test('a signal ends the reading, and its threads', { tags: 'long' }, async () => {
  const stop = new AbortController();
  const source = new FileSource(writeFile('stopped.yaml', many), {
    shapes: new Shapes(),
    signal: stop.signal,
  });
  const parts = source.read();
  await parts.next();
  expect(threads).toBeGreaterThan(0);
  stop.abort(new Error('stopped by SIGINT'));
  const rest = async (): Promise<void> => {
    for await (const _ of parts);
  };
  await expect(rest()).rejects.toThrow('stopped by SIGINT');
  expect(threads).toBe(0);
});

test('a thread that ends fails all that it had to do, and what comes later', async () => {
  const file = join(folder, 'dies.mjs');
  writeFileSync(
    file,
    `import { parentPort } from 'node:worker_threads';\nparentPort.on('message', () => process.exit(7));\n`,
  );
  const dying = new ShapingThreads({ shapes: new Shapes(), signal: NEVER, file });
  const waiting = dying.shape([]);
  const message = 'a thread that reads objects has ended: its code is 7: the same command goes on from here';
  await expect(waiting).rejects.toThrow(message);
  await expect(dying.shape([])).rejects.toThrow(message);
  await dying.close();
  expect(threads).toBe(0);
});
