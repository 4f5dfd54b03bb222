import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import { describe } from '../../../src/cli/transfer/describe.ts';
import { type Live, type Target, toLive } from '../../../src/cli/transfer/import-target.ts';
import { Importer } from '../../../src/cli/transfer/importer.ts';
import { Progress } from '../../../src/cli/transfer/progress.ts';
import { Shapes } from '../../../src/cli/transfer/shapes.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { StoredObject, Write } from '../../../src/storage/revision-log.ts';
import { NEVER } from '../../../src/util/pause.ts';

const uid = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;

function configMap(digit: number, owners: readonly number[] = []): JsonObject {
  const ownerReferences = owners.map((owner) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', name: `c${owner}`, uid: uid(owner) },
  }));
  const metadata = {
    ...{
      name: `c${digit}`,
      namespace: 'default',
      uid: uid(digit),
      creationTimestamp: '2020-01-01T00:00:00Z',
    },
    ...(owners.length === 0 ? {} : { ownerReferences }),
  };
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata };
}

/** A log in memory, whose commits take a turn each. */
class MemoryTarget implements Target {
  readonly commits: string[] = [];
  readonly #objects = new Map<string, StoredObject>();
  /** Fails the next commits so. */
  readonly failures: StorageError[] = [];

  async commit({ verb, key, uid, json }: Write) {
    await new Promise((resolve) => setImmediate(resolve));
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    this.commits.push(`${verb} ${key.name}`);
    const revision = toRevision(this.commits.length);
    if (verb === 'delete') this.#objects.delete(describe(key));
    else this.#objects.set(describe(key), { key, uid, revision, json });
    return revision;
  }

  async get(key: StoredObject['key']) {
    return this.#objects.get(describe(key));
  }

  async index(): Promise<Map<string, Live>> {
    return new Map([...this.#objects].map(([name, object]) => [name, toLive(object)]));
  }

  async close(): Promise<void> {}
}

const begin = (
  target: Target,
  { replaces = false, uids }: { readonly replaces?: boolean; readonly uids?: ReadonlySet<string> } = {},
): Promise<Importer> =>
  Importer.begin({
    source: { uids },
    ...{ shapes: new Shapes(), target, progress: new Progress(false), signal: NEVER },
    ...{ eventTtlMs: 1000, dryRun: false, replaces },
  });

test('an object is written after its owners, in every order of the input, and without them at the end', async () => {
  const target = new MemoryTarget();
  const importer = await begin(target);
  for (const object of [configMap(3, [2]), configMap(2, [1]), configMap(4, [9]), configMap(1)])
    await importer.take(object);
  await importer.finish();
  expect(target.commits).toEqual(['create c1', 'create c2', 'create c3', 'create c4']);
  expect(importer.report.lines(false).join('\n')).toContain(
    'their owners are not in the source, so that the garbage collector will remove them: configmaps default/c4',
  );
});

test('an object does not wait for an owner that the source is known to lack', async () => {
  const target = new MemoryTarget();
  const importer = await begin(target, { uids: new Set([1, 2, 3, 4].map(uid)) });
  for (const object of [configMap(4, [9]), configMap(3, [9, 2]), configMap(2), configMap(1, [2, 9])])
    await importer.take(object);
  await importer.finish();
  expect(target.commits).toEqual(['create c4', 'create c2', 'create c3', 'create c1']);
  expect(importer.report.lines(false).at(-1)).toMatch(
    /^their owners are not in the source, .*: configmaps default\/c4$/,
  );
});

test('an import that was cut off goes on where it was', async () => {
  const target = new MemoryTarget();
  const first = await begin(target);
  await first.take(configMap(1));
  await first.drain();
  const second = await begin(target);
  for (const digit of [1, 2]) await second.take(configMap(digit));
  await second.finish();
  expect(target.commits).toEqual(['create c1', 'create c2']);
  expect(second.report.lines(false)).toEqual(['same 1, created 1']);
});

test('a write that met a conflict or lost its answer is decided anew by what the target has', async () => {
  const target = new MemoryTarget();
  target.failures.push(
    new StorageError({ kind: 'unknown', reason: 'the connection broke' }),
    new StorageError({
      kind: 'conflict',
      key: { group: '', resource: 'configmaps', namespace: 'default', name: 'c1' },
      current: toRevision(9),
    }),
  );
  const importer = await begin(target);
  await importer.take(configMap(1));
  await importer.finish();
  expect(target.commits).toEqual(['create c1']);
});

test('a newer state takes the place of one that waits for its owner', async () => {
  const target = new MemoryTarget();
  const importer = await begin(target);
  for (const object of [configMap(2, [1]), { ...configMap(2), data: { newer: 'yes' } }, configMap(1)])
    await importer.take(object);
  await importer.finish();
  expect(target.commits).toEqual(['create c2', 'create c1']);
});

test('an object with its fields in another order is the same', async () => {
  const target = new MemoryTarget();
  const first = await begin(target);
  await first.take({ ...configMap(1), data: { a: '1', b: '2' } });
  await first.finish();
  const second = await begin(target);
  await second.take({ ...configMap(1), data: { b: '2', a: '1' } });
  await second.finish();
  expect(second.report.lines(false)).toEqual(['same 1']);
});

test('a custom resource is taken without its definition where the target has that', async () => {
  const target = new MemoryTarget();
  const named = { uid: uid(7), creationTimestamp: '2020-01-01T00:00:00Z' };
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
  const schema = { openAPIV3Schema: { type: 'object' } };
  const definition = {
    ...{ kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1' },
    metadata: { ...named, name: 'widgets.example.com' },
    spec: {
      ...{ group: 'example.com', names, scope: 'Namespaced' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  const first = await begin(target);
  await first.take(definition);
  await first.finish();
  const second = await begin(target);
  const metadata = { ...named, uid: uid(8), name: 'w', namespace: 'shop' };
  await second.take({ kind: 'Widget', apiVersion: 'example.com/v1', metadata });
  await second.finish();
  expect(second.report.lines(false)).toEqual(['created 1']);
});

test('an object that comes again and again is reported once', async () => {
  const importer = await begin(new MemoryTarget());
  for (const name of ['extension-apiserver-authentication', 'extension-apiserver-authentication', '']) {
    const metadata = { ...(configMap(1).metadata as JsonObject), name, namespace: 'kube-system' };
    for (let turn = 0; turn < 2; turn += 1) await importer.take({ ...configMap(1), metadata });
  }
  expect(importer.report.refused).toBe(1);
  expect(importer.report.lines(false).slice(1)).toEqual([
    'not taken: configmaps kube-system/extension-apiserver-authentication: each cluster has its own',
    expect.stringMatching(/^not taken: ConfigMap [^,]+: it has no name$/),
  ]);
});

test('an object of another uid stays, unless it is to be replaced', async () => {
  const target = new MemoryTarget();
  const first = await begin(target);
  await first.take(configMap(1));
  await first.finish();
  const other = {
    ...configMap(1),
    metadata: { name: 'c1', namespace: 'default', uid: uid(5), creationTimestamp: '2020-01-01T00:00:00Z' },
  };
  const careful = await begin(target);
  await careful.take(other);
  await careful.finish();
  expect(careful.report.refused).toBe(1);
  const bold = await begin(target, { replaces: true });
  await bold.take(other);
  await bold.finish();
  expect(target.commits).toEqual(['create c1', 'delete c1', 'create c1']);
});

test('namespaces are named that objects are in, and that neither the source nor the target has, nor a server makes', async () => {
  const importer = await begin(new MemoryTarget());
  const inside = (namespace: string): JsonObject => ({
    ...{ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c', namespace } },
  });
  const shop = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'shop' } };
  for (const object of [inside('shop'), shop, inside('nowhere'), inside('default')])
    await importer.take(object);
  await importer.finish();
  expect(importer.missingNamespaces()).toEqual(['nowhere']);
});

test('progress has a bar where the whole is known', () => {
  const progress = new Progress(false);
  progress.begin('configmaps', 4000);
  progress.add(1000);
  expect(progress.text(500)).toBe('[######                  ] 1,000 of 4,000, 2,000/s, configmaps');
  const open = new Progress(false);
  open.begin('followed');
  open.add(3);
  expect(open.text(1000)).toBe('3, 3/s, followed');
});
