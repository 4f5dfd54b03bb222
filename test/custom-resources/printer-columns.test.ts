import { expect, test } from 'vitest';
import type { ApiObject, JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { CustomResourceColumnDefinition } from '../../src/api/types/apiextensions/v1.ts';
import { SCALE_COLUMNS, toColumns } from '../../src/custom-resources/printer-columns.ts';
import { toDated, toUndated, UNDATED } from '../../src/object/ages.ts';
import { parseExactly } from '../../src/object/exact-json.ts';
import { threadMs } from '../kit/thread-time.ts';

const NOW = Date.parse('2026-05-01T12:00:00Z');

const objectOf = (rest: JsonObject): ApiObject => ({
  kind: 'Widget',
  apiVersion: 'example.com/v1',
  metadata: { name: 'w', creationTimestamp: '2026-05-01T11:58:00Z' },
  ...rest,
});

const cellsOf = (columns: CustomResourceColumnDefinition[], rest: JsonObject) =>
  toColumns({ additionalPrinterColumns: columns }).cells(objectOf(rest), NOW);

const cellOf = (type: string, jsonPath: string, rest: JsonObject) =>
  cellsOf([{ name: 'X', type, jsonPath }], rest)[1];

test('a version without columns shows the name and the age', () => {
  for (const additionalPrinterColumns of [undefined, []]) {
    const { columns, cells } = toColumns({ ...(additionalPrinterColumns && { additionalPrinterColumns }) });
    expect(columns.map(({ name, type, format, priority }) => [name, type, format, priority])).toEqual([
      ['Name', 'string', 'name', 0],
      ['Age', 'date', '', 0],
    ]);
    expect(cells(objectOf({}), NOW)).toEqual(['w', '2m']);
  }
});

test('columns keep what their definition says, behind the name; the age is there only if it is one of them', () => {
  const { columns } = toColumns({
    additionalPrinterColumns: [
      {
        name: 'Size',
        type: 'integer',
        format: 'int32',
        priority: 1,
        description: 'How large',
        jsonPath: '.spec.size',
      },
      { name: 'Color', type: 'string', jsonPath: '.spec.color' },
    ],
  });
  expect(columns).toEqual([
    expect.objectContaining({ name: 'Name', type: 'string', format: 'name' }),
    { name: 'Size', type: 'integer', format: 'int32', priority: 1, description: 'How large' },
    {
      name: 'Color',
      type: 'string',
      format: '',
      priority: 0,
      description: 'Custom resource definition column (in JSONPath format): .spec.color',
    },
  ]);
});

test.each<[string, JsonValue, unknown]>([
  ['integer', 3, 3],
  ['integer', 2.7, 2],
  ['integer', -2.7, -2],
  ['integer', 9007199254740993n, 9007199254740993n],
  ['integer', 1e300, -(2n ** 63n)],
  ['integer', '3', null],
  ['integer', true, null],
  ['integer', null, null],
  ['integer', [3], null],
  ['number', 3, 3],
  ['number', 2.5, 2.5],
  ['number', 9007199254740993n, 9007199254740992],
  ['number', '2.5', null],
  ['boolean', true, true],
  ['boolean', false, false],
  ['boolean', 'true', null],
  ['boolean', 1, null],
  ['string', 'red', 'red'],
  ['string', '', ''],
  ['string', 3, '3'],
  ['string', 2.5, '2.5'],
  ['string', 1234567.5, '1.2345675e+06'],
  ['string', 9007199254740993n, '9007199254740993'],
  ['string', 10n ** 24n, '1e+24'],
  ['string', false, 'false'],
  ['string', null, '<no value>'],
  [
    'string',
    { b: 1, a: '<&>', 10: null, 9: [true] },
    '{"10":null,"9":[true],"a":"\\u003c\\u0026\\u003e","b":1}',
  ],
  ['string', ['x', 1], '["x",1]'],
  ['string', [], '[]'],
  ['date', '2026-05-01T11:59:30Z', '30s'],
  ['date', '2026-05-01T13:59:30.5+02:00', '29s'],
  ['date', '2026-06-01T00:00:00Z', '<invalid>'],
  ['date', '', '<unknown>'],
  ['date', 'null', '<unknown>'],
  ['date', '0001-01-01T00:00:00Z', '<unknown>'],
  ['date', 'yesterday', '<invalid>'],
  ['date', '2026-02-30T00:00:00Z', '<invalid>'],
  ['date', '2026-05-01', '<invalid>'],
  ['date', 1777636800, null],
  ['date', null, null],
])('a %s column shows %j as %j', (type, value, shown) => {
  expect(cellOf(type, '.spec.x', { spec: { x: value } })).toEqual(shown);
  expect(cellOf(type, '.spec.y', { spec: { x: value } })).toBeNull();
  expect(cellOf(type, '.spec.x.y.z', {})).toBeNull();
});

test('of several results the first counts', () => {
  const spec = { ports: [{ port: 80 }, { port: 443 }] };
  expect(cellOf('integer', '.spec.ports[*].port', { spec })).toBe(80);
  expect(cellOf('string', '.spec.ports[*].port', { spec })).toBe('80');
  expect(cellOf('string', '.spec.ports', { spec })).toBe('[{"port":80},{"port":443}]');
});

test('a path that does not fit an object shows nothing, and the other cells are there', () => {
  const columns = ['.spec.list[3]', '.spec.text[0]', '.spec.text[?(@.x)]', '.spec.text'].map((jsonPath) => ({
    name: jsonPath,
    type: 'string',
    jsonPath,
  }));
  expect(cellsOf(columns, { spec: { list: [1], text: 'x' } })).toEqual(['w', null, null, null, 'x']);
});

test('a path that cannot be read ends the columns', () => {
  const { columns, cells } = toColumns({
    additionalPrinterColumns: [
      { name: 'A', type: 'string', jsonPath: '.spec.a' },
      { name: 'B', type: 'string', jsonPath: '.spec.b[' },
      { name: 'C', type: 'string', jsonPath: '.spec.c' },
    ],
  });
  expect(columns.map(({ name }) => name)).toEqual(['Name', 'A']);
  expect(cells(objectOf({ spec: { a: 'x', b: 'y', c: 'z' } }), NOW)).toEqual(['w', 'x']);
});

test('the table of a scale shows what is wanted, what is there, and the age', () => {
  const { columns, cells } = SCALE_COLUMNS;
  expect(columns.map(({ name }) => name)).toEqual(['Name', 'Desired', 'Available', 'Age']);
  expect(cells(objectOf({ spec: { replicas: 3 }, status: { replicas: 2 } }), NOW)).toEqual(['w', 3, 2, '2m']);
});

test('cells made for no moment read, at any moment, as if they had been made then', () => {
  const { cells } = toColumns({
    additionalPrinterColumns: [{ name: 'Since', type: 'date', jsonPath: '.status.at' }],
  });
  const object = objectOf({ status: { at: '2026-05-01T11:00:00Z' } });
  const undated = toUndated(JSON.stringify(cells(object, UNDATED)));
  expect(toDated(undated, NOW)).toBe(JSON.stringify(cells(object, NOW)));
  expect(cells(object, NOW)).toEqual(['w', '60m']);
});

test('hostile columns and objects take little time, together', () => {
  const object = objectOf({ spec: JSON.parse(`[${'[[1,2,3],[4,5,6]],'.repeat(100_000)}0]`) });
  const columns = Array.from({ length: 100_000 }, (_, at) => ({
    name: `c${at}`,
    type: 'string',
    jsonPath: '.spec..[0:2]..[0:1]',
  }));
  const started = threadMs();
  const { cells } = toColumns({ additionalPrinterColumns: columns });
  expect(cells(object, NOW)).toHaveLength(1001);
  expect(threadMs() - started).toBeLessThan(2000);
});

test('keys that look like those of a prototype are fields like any other', () => {
  const object = parseExactly('{"__proto__":{"constructor":"own"}}');
  expect(cellOf('string', '.spec.__proto__.constructor', { spec: object })).toBe('own');
  expect(cellOf('string', '.spec.constructor', { spec: {} })).toBeNull();
  expect(cellOf('string', '.spec', { spec: object })).toBe('{"__proto__":{"constructor":"own"}}');
});
