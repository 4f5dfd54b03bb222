import { expect, test } from 'vitest';
import type { CustomResourceColumnDefinition } from '../../src/api/types/apiextensions/v1.ts';
import { toViewColumns } from '../../src/controllers/custom-resources/view-columns.ts';
import { definitionOf } from '../kit/definitions.ts';

function columnsOf(...additionalPrinterColumns: CustomResourceColumnDefinition[]) {
  const definition = definitionOf({ plural: 'widgets', kind: 'Widget' });
  const [version = {}] = definition.spec?.versions ?? [];
  const old = { ...version, name: 'v0', storage: false, additionalPrinterColumns: [] };
  const versions = [old, { ...version, additionalPrinterColumns }];
  return toViewColumns({ ...definition, spec: { ...definition.spec, versions } });
}

const pathOf = (jsonPath: string) => {
  const [column] = columnsOf({ name: 'a', type: 'string', jsonPath });
  return column && { path: column.path, ...(column.item === undefined ? {} : { item: column.item }) };
};

test.each([
  ['.spec.replicas', { path: ['spec', 'replicas'] }],
  ['.spec.ports[0].name', { path: ['spec', 'ports', '0', 'name'] }],
  [".metadata.labels['app']", { path: ['metadata', 'labels', 'app'] }],
  ['.metadata.labels.app\\.kubernetes\\.io/name', { path: ['metadata', 'labels', 'app.kubernetes.io/name'] }],
  [
    '.status.conditions[?(@.type=="Ready")].status',
    { path: ['status'], item: { path: ['status', 'conditions'], key: 'type', value: 'Ready' } },
  ],
  ["{.status.conditions[?(@.type=='Ready')].reason}", undefined],
  ['.spec.*', undefined],
  ['..name', undefined],
  ['.spec.ports[*].name', undefined],
  ['.spec.ports[0:2].name', undefined],
  ['.spec.ports[?(@.port>80)].name', undefined],
  ['.spec[', undefined],
  ['.', { path: [''] }],
  ['', undefined],
  ['.spec.\ud800', undefined],
  ['.spec.a\u0000', undefined],
])('the path %j becomes a column of SQL, or is none', (jsonPath, place) => {
  expect(pathOf(jsonPath)).toEqual(place);
});

test('columns are those of the stored version, in their types', () => {
  const jsonPath = '.spec.a';
  const types = ['integer', 'number', 'boolean', 'date', 'string', 'other'];
  const columns = columnsOf(...types.map((type) => ({ name: type, type, jsonPath })));
  expect(columns.map(({ name, type }) => [name, type])).toEqual([
    ...types.slice(0, 5).map((type) => [type, type]),
    ['other', 'string'],
  ]);
});

test('names need no quotes, and no two are the same', () => {
  const shown = [
    'Ready Replicas',
    'ready-replicas',
    'Name',
    'OBJECT',
    '%',
    '1st',
    '"; DROP',
    'Größe',
    `${'x'.repeat(70)}`,
    'x'.repeat(64),
  ];
  const columns = columnsOf(...shown.map((name) => ({ name, type: 'string', jsonPath: '.spec.a' })));
  expect(columns.map(({ name }) => name)).toEqual([
    ...['ready_replicas', 'ready_replicas_2', 'name_2', 'object_2', 'column', 'column_1st', 'drop', 'größe'],
    'x'.repeat(63),
    `${'x'.repeat(61)}_2`,
  ]);
});

test('a view has no more columns than PostgreSQL takes', () => {
  const many = Array.from({ length: 5000 }, (_, n) => ({
    name: `c${n}`,
    type: 'string',
    jsonPath: '.spec.a',
  }));
  expect(columnsOf(...many)).toHaveLength(300);
});
