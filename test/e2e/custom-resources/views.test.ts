// @module-tag long
import { expect, test, vi } from 'vitest';
import { startCluster } from '../../kit/cluster.ts';
import { definitionOf } from '../../kit/definitions.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { runMigrate, TestRoles } from '../../kit/roles.ts';
import { createTestDatabase } from '../../postgres.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const FLAG = '--custom-resource-views';
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

function sized(group: string) {
  const definition = definitionOf({ group, plural: 'widgets', kind: 'Widget' });
  const [version] = definition.spec?.versions ?? [];
  const additionalPrinterColumns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }];
  return {
    ...definition,
    spec: { ...definition.spec, versions: [{ ...version, additionalPrinterColumns }] },
  };
}

test('servers that may create nothing keep a view for each definition, over changes, deletions and while none of them runs', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  expect((await runMigrate(database.url, `--roles=${roles.prefix}`)).code).toBe(0);
  const url = await roles.urlOf('server');
  await using first = await startCluster(url, [FLAG]);
  await using second = await startCluster(url, [FLAG]);
  const shown = (text: string): Promise<unknown> =>
    database.query(text).catch((error: Error) => error.message);
  const untilShown = (text: string, rows: unknown): Promise<void> =>
    vi.waitFor(async () => expect(await shown(text)).toEqual(rows), PATIENCE);

  expect((await first.request('POST', DEFINITIONS, sized('example.com'))).code).toBe(201);
  await untilShown('SELECT * FROM crd.widgets', []);
  const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { size: 7 } };
  await vi.waitFor(async () => {
    const { code } = await second.request('POST', '/apis/example.com/v1/namespaces/default/widgets', object);
    expect(code).toBe(201);
  }, PATIENCE);
  expect(await shown("SELECT namespace, name, size, object->'spec' AS spec FROM crd.widgets")).toEqual([
    { namespace: 'default', name: 'a', size: '7', spec: { size: 7 } },
  ]);

  const path = '/spec/versions/0/additionalPrinterColumns/0/name';
  const patch = [{ op: 'replace', path, value: 'Of Size' }];
  const definition = `${DEFINITIONS}/widgets.example.com`;
  expect((await second.request('PATCH', definition, patch, JSON_PATCH)).code).toBe(200);
  await untilShown('SELECT of_size FROM crd.widgets', [{ of_size: '7' }]);

  await first.request('POST', DEFINITIONS, sized('other.example.com'));
  await untilShown('SELECT name FROM crd."widgets.other.example.com"', []);
  await first.request('DELETE', definition);
  await untilShown('SELECT size FROM crd.widgets', []);
  await untilShown(
    'SELECT FROM crd."widgets.example.com"',
    'relation "crd.widgets.example.com" does not exist',
  );

  await Promise.all([first.stop(), second.stop()]);
  await using without = await startCluster(url);
  await without.request('DELETE', `${DEFINITIONS}/widgets.other.example.com`);
  await vi.waitFor(async () => {
    expect((await without.request('GET', `${DEFINITIONS}/widgets.other.example.com`)).code).toBe(404);
  }, PATIENCE);
  expect(await shown('SELECT size FROM crd.widgets')).toEqual([]);
  await first.start();
  await untilShown('SELECT FROM crd.widgets', 'relation "crd.widgets" does not exist');
});

test('there are no views unless they are asked for', async () => {
  await using database = await createTestDatabase();
  await using cluster = await startCluster(database.url);
  expect((await cluster.request('POST', DEFINITIONS, sized('example.com'))).code).toBe(201);
  await vi.waitFor(async () => {
    const { code } = await cluster.request('GET', '/apis/example.com/v1/widgets');
    expect(code).toBe(200);
  }, PATIENCE);
  expect(await database.query("SELECT FROM pg_namespace WHERE nspname = 'crd'")).toEqual([]);
});
