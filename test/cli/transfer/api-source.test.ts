import { expect, test, vi } from 'vitest';
import { ApiClient } from '../../../src/cli/transfer/api-client.ts';
import { ApiSource } from '../../../src/cli/transfer/api-source.ts';
import { Shapes } from '../../../src/cli/transfer/shapes.ts';
import type { SourceChange } from '../../../src/cli/transfer/source.ts';
import { MAX_VALUES } from '../../../src/object/document-limits.ts';
import { isObject } from '../../../src/object/json-values.ts';
import { definitionOf } from '../../kit/definitions.ts';
import { ScriptedApi } from './scripted-api.ts';

const CONFIG_MAPS = '/api/v1/configmaps';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/stable.example.com/v1/widgets';
const PATIENT = { timeout: 60_000 };

/** `put a 12`, `removed a` */
function textOf({ kind, object }: SourceChange): string {
  const { name, resourceVersion } = isObject(object.metadata) ? object.metadata : {};
  return kind === 'put' ? `put ${name} ${resourceVersion}` : `removed ${name}`;
}

/** A source that was read, and what it shows from then on. */
async function follow(api: ScriptedApi) {
  const signal = new AbortController();
  const shapes = new Shapes();
  const client = new ApiClient({ kubeconfig: api.kubeconfig, signal: signal.signal, say: () => {} });
  const source = new ApiSource({ client, shapes, say: () => {} });
  const read: string[] = [];
  for await (const { objects, removed = [] } of source.read()) {
    for (const object of objects) read.push(textOf({ kind: 'put', object }));
    for (const object of removed) read.push(textOf({ kind: 'removed', object }));
  }
  const changes: string[] = [];
  const cutOver = new AbortController();
  const ended = (async () => {
    for await (const change of source.follow(cutOver.signal)) {
      if (change.object.kind === 'CustomResourceDefinition') shapes.shape(change.object);
      changes.push(textOf(change));
    }
    await source.close();
  })();
  return {
    read,
    changes,
    cutOver: async () => {
      cutOver.abort();
      await ended;
    },
  };
}

test('a source that is followed shows each change once, in order, over broken connections and compacted versions', async () => {
  await using api = await ScriptedApi.start();
  for (const name of ['a', 'b', 'c']) api.put(CONFIG_MAPS, name);
  const { read, changes, cutOver } = await follow(api);
  expect(read).toEqual(['put a 11', 'put b 12', 'put c 13']);
  await vi.waitFor(() => expect(api.watches).toBe(2), PATIENT);
  api.put(CONFIG_MAPS, 'a');
  await vi.waitFor(() => expect(changes).toEqual(['put a 14']), PATIENT);
  api.cut();
  api.put(CONFIG_MAPS, 'a');
  api.remove(CONFIG_MAPS, 'b');
  const afterCut = ['put a 14', 'put a 15', 'removed b'];
  await vi.waitFor(() => expect(changes).toEqual(afterCut), PATIENT);
  await vi.waitFor(() => expect(api.watches).toBe(2), PATIENT);
  api.isSilent = true;
  api.put(CONFIG_MAPS, 'd');
  api.remove(CONFIG_MAPS, 'c');
  api.isSilent = false;
  api.compact();
  api.cut();
  const afterCompaction = [...afterCut, 'put d 17', 'removed c'];
  await vi.waitFor(() => expect(changes).toEqual(afterCompaction), PATIENT);
  await vi.waitFor(() => expect(api.watches).toBe(2), PATIENT);
  api.put(CONFIG_MAPS, 'e');
  await vi.waitFor(() => expect(changes).toEqual([...afterCompaction, 'put e 19']), PATIENT);
  await cutOver();
  expect(changes).toEqual([...afterCompaction, 'put e 19']);
});

test('what no watch has shown at the cut-over, a last comparison finds', async () => {
  await using api = await ScriptedApi.start();
  for (const name of ['a', 'b']) api.put(CONFIG_MAPS, name);
  const { changes, cutOver } = await follow(api);
  await vi.waitFor(() => expect(api.watches).toBe(2), PATIENT);
  api.isSilent = true;
  api.put(CONFIG_MAPS, 'a');
  api.remove(CONFIG_MAPS, 'b');
  await cutOver();
  expect(changes).toEqual(['put a 13', 'removed b']);
});

test('a resource that is defined while the source is followed is followed too, until its definition goes', async () => {
  await using api = await ScriptedApi.start();
  const { changes, cutOver } = await follow(api);
  await vi.waitFor(() => expect(api.watches).toBe(2), PATIENT);
  const { spec } = definitionOf({ plural: 'widgets', kind: 'Widget' });
  api.put(DEFINITIONS, 'widgets.stable.example.com', { spec });
  api.put(WIDGETS, 'early');
  await vi.waitFor(() => expect(api.watches).toBe(3), PATIENT);
  api.put(WIDGETS, 'late');
  const defined = ['put widgets.stable.example.com 11', 'put early 12', 'put late 13'];
  await vi.waitFor(() => expect(changes).toEqual(defined), PATIENT);
  api.isSilent = true;
  api.remove(WIDGETS, 'early');
  api.remove(WIDGETS, 'late');
  api.remove(DEFINITIONS, 'widgets.stable.example.com');
  await cutOver();
  expect(changes.slice(3).sort()).toEqual([
    'removed early',
    'removed late',
    'removed widgets.stable.example.com',
  ]);
});

test('a list that becomes too old begins again, and shows what was removed meanwhile', async () => {
  await using api = await ScriptedApi.start();
  for (const name of ['a', 'b', 'c', 'd', 'e']) api.put(CONFIG_MAPS, name);
  let pages = 0;
  api.beforePage = (path) => {
    if (path !== CONFIG_MAPS) return;
    pages += 1;
    if (pages !== 2) return;
    api.remove(CONFIG_MAPS, 'a');
    api.compact();
  };
  const { read, changes, cutOver } = await follow(api);
  expect(read).toEqual(['put a 11', 'put b 12', 'put c 13', 'put d 14', 'put e 15', 'removed a']);
  await cutOver();
  expect(changes).toEqual([]);
});

test('a page of a list may have more values than a request', async () => {
  await using api = await ScriptedApi.start();
  const data = Object.fromEntries(Array.from({ length: MAX_VALUES + 1 }, (_, at) => [`k${at}`, '']));
  api.put(CONFIG_MAPS, 'wide', { data });
  const { read, cutOver } = await follow(api);
  expect(read).toEqual(['put wide 11']);
  await cutOver();
});
