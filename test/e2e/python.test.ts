import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { findPython } from '../kit/python/python.ts';
import { runTool } from '../kit/tools.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** One session of the official Python client (kit/python/session.py); what each of its steps must have seen. */

const SESSION = fileURLToPath(new URL('../kit/python/session.py', import.meta.url));
const SKIPPED = 'no python3 with the package kubernetes is installed';
const python = findPython();

let database: TestDatabase;
let cluster: Cluster;
const saw = new Map<string, unknown>();

interface Line {
  readonly step: string;
  readonly saw?: unknown;
  readonly error?: string;
}

beforeAll(async () => {
  if (python === undefined) return;
  database = await createTestDatabase();
  cluster = await startCluster(database.url);
  const { code, stdout, stderr } = await runTool(python, [SESSION], {
    kubeconfig: cluster.kubeconfig,
    home: cluster.folder,
  });
  expect(code, stderr).toBe(0);
  for (const line of stdout.trim().split('\n')) {
    const { step, saw: seen, error } = JSON.parse(line) as Line;
    saw.set(step, error ?? seen);
  }
});

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await database?.drop();
});

const steps: readonly (readonly [promise: string, step: string, seen: object])[] = [
  [
    'objects are created and read, and refusals carry their reasons',
    'creates_and_reads',
    {
      uid: true,
      data: { a: '1' },
      created: true,
      again: [409, 'AlreadyExists'],
      missing: [404, 'NotFound'],
      invalid: [422, 'Invalid', 'metadata.name'],
    },
  ],
  ['a replacement of a stale object is refused', 'replaces', { data: { a: '2' }, stale: [409, 'Conflict'] }],
  [
    'a list by labels comes in chunks, each object once, without a count of the rest',
    'lists_in_chunks',
    { sizes: [10, 10, 6], left: [null, null, null], unique: true, named: ['many-07'] },
  ],
  [
    'every type of patch is applied',
    'patches',
    { strategic: ['side', 'web'], json: 3, merge: 'yes', failed: [422, 'Invalid'] },
  ],
  [
    'a deployment is scaled through its scale',
    'scales',
    { before: 3, patched: 6, selector: 'app=web', stored: 6 },
  ],
  ['a status is written apart from the spec', 'writes_a_status', { status: 6, spec: 6 }],
  [
    'a watch goes on from a list, and one from too long ago is refused or begins anew',
    'watches',
    {
      events: [
        ['ADDED', '1'],
        ['MODIFIED', '2'],
        ['DELETED', '2'],
      ],
      old: expect.any(Array),
    },
  ],
  [
    'server-side apply knows who owns what',
    'applies_on_the_server',
    {
      made: { a: '1', b: '1' },
      conflict: [409, 'Conflict', '.data.a'],
      forced: { a: '2', b: '1' },
      managers: ['first', 'second'],
      released: { a: '2' },
    },
  ],
  [
    'the dynamic client finds kinds and works with them',
    'finds_kinds',
    { namespaced: [false, true], short: ['cj'], data: '1', seen: ['ADDED'], gone: [404, 'NotFound'] },
  ],
  ['objects are made from manifests', 'creates_from_manifests', { data: { a: '1' } }],
  ['a caller may ask what is allowed', 'reviews_access', { allowed: true }],
  ['a collection is deleted by its labels', 'deletes_collections', { left: 0, web: [404, 'NotFound'] }],
];

for (const [promise, step, seen] of steps) {
  test(promise, ({ skip }) => {
    if (python === undefined) skip(SKIPPED);
    expect(saw.get(step)).toEqual(seen);
  });
}
