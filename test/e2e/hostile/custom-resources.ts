import { expect, vi } from 'vitest';
import type { JSONSchemaProps } from '../../../src/api/types/apiextensions/v1.ts';
import type { Cluster } from '../../kit/cluster.ts';
import { definitionOf } from '../../kit/definitions.ts';
import type { HostileRequest } from '../../kit/hostile-request.ts';
import { PATIENCE } from '../../kit/patience.ts';

/** Definitions as large and as deep as they may be, and objects of a definition that has a rule for everything. */
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/stable.example.com/v1/namespaces/default/widgets';

const many = <T>(count: number, item: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => item(at));
const fieldsOf = <T>(count: number, item: (at: number) => T): Record<string, T> =>
  Object.fromEntries(many(count, (at) => [`f${at}`, item(at)]));

const TEXT: JSONSchemaProps = { type: 'string' };
const INTEGER: JSONSchemaProps = { type: 'integer' };

const definitionWith = (properties: Record<string, JSONSchemaProps>, version: object = {}): object => {
  const definition = definitionOf({ plural: 'widgets', kind: 'Widget' });
  const [first] = definition.spec?.versions ?? [];
  Object.assign(first ?? {}, { schema: { openAPIV3Schema: { type: 'object', properties } } }, version);
  return definition;
};

const define = (name: string, object: () => object, codes = [201]): HostileRequest => ({
  name: `a definition with ${name}`,
  method: 'POST',
  path: `${DEFINITIONS}?dryRun=All`,
  body: () => JSON.stringify(object()),
  codes,
});

/** A schema in which each level has one field. */
const deep = (depth: number): JSONSchemaProps =>
  Array.from({ length: depth }).reduce<JSONSchemaProps>(
    (below) => ({ type: 'object', properties: { a: below } }),
    TEXT,
  );

const rules = (count: number, rule: (at: number) => string) =>
  many(count, (at) => ({ rule: rule(at), message: 'no' }));

const RICH: Record<string, JSONSchemaProps> = {
  set: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'set' },
  keyed: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name'],
      properties: { name: TEXT, size: { ...INTEGER, default: 1 } },
    },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  },
  either: {
    type: 'array',
    items: {
      type: 'object',
      properties: { a: INTEGER, b: INTEGER },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
  },
  pattern: { type: 'string', pattern: '^(a+)+$' },
  patterns: { type: 'array', items: { type: 'string', pattern: '^([a-z0-9]+[-.])*[a-z]{1,200}$' } },
  many: { type: 'object', additionalProperties: { type: 'object', properties: { x: INTEGER } } },
  ruled: {
    type: 'array',
    maxItems: 20_000,
    items: { type: 'string', maxLength: 20, 'x-kubernetes-validations': [{ rule: 'self.size() < 10' }] },
  },
  compared: {
    type: 'array',
    maxItems: 400,
    items: { type: 'string', maxLength: 20 },
    'x-kubernetes-validations': [{ rule: 'self.all(a, self.exists_one(b, a == b))' }],
  },
  spelled: {
    ...TEXT,
    'x-kubernetes-validations': [
      "substring(1, 2) != ''",
      "lastIndexOf('z', 100) < 0",
      "split('').size() > 0",
      "replace('', 'y') != ''",
    ].map((call) => ({ rule: `[1, 2, 3, 4, 5, 6, 7, 8].all(x, self.${call})`, message: 'no' })),
  },
  embedded: {
    type: 'array',
    items: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
};

const isServed = async (cluster: Cluster): Promise<void> => {
  const { code, text } = await cluster.request('POST', DEFINITIONS, definitionWith(RICH));
  expect([201, 409], text).toContain(code);
  await vi.waitFor(async () => expect((await cluster.request('GET', WIDGETS)).code).toBe(200), PATIENCE);
};

const create = (name: string, fields: () => object, codes = [201]): HostileRequest => ({
  name: `an object with ${name}`,
  method: 'POST',
  path: `${WIDGETS}?dryRun=All`,
  before: isServed,
  body: () =>
    JSON.stringify({
      apiVersion: 'stable.example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
      ...fields(),
    }),
  codes,
});

export const CUSTOM_RESOURCES: readonly HostileRequest[] = [
  define('16,000 fields', () => definitionWith(fieldsOf(16_000, () => TEXT))),
  define('10,000 defaults', () => definitionWith(fieldsOf(10_000, () => ({ ...TEXT, default: 'x' })))),
  define('fields 200 deep', () => definitionWith({ a: deep(200) })),
  define('a list of 40,000 values', () =>
    definitionWith({ a: { ...TEXT, enum: many(40_000, (at) => `v${at}`) as never } }),
  ),
  define('200 rules', () =>
    definitionWith({
      a: {
        type: 'object',
        properties: fieldsOf(200, () => ({ ...TEXT, maxLength: 10 })),
        'x-kubernetes-validations': rules(200, (at) => `self.f${at} != 'x' || self.f0.size() > ${at}`),
      },
    }),
  ),
  define(
    'rules as long as they may be',
    () =>
      definitionWith({
        a: {
          ...INTEGER,
          'x-kubernetes-validations': rules(50, () => many(500, (at) => `self != ${at}`).join(' && ')),
        },
      }),
    [201, 422],
  ),
  define(
    'rules nested as deep as they may be',
    () =>
      definitionWith({
        a: {
          ...INTEGER,
          'x-kubernetes-validations': rules(20, () => `${'('.repeat(240)}self > 0${')'.repeat(240)}`),
        },
      }),
    [201, 422],
  ),
  define(
    'rules that do not compile',
    () =>
      definitionWith({
        a: { ...TEXT, 'x-kubernetes-validations': rules(1000, (at) => `self.nothing${at}`) },
      }),
    [422],
  ),
  define(
    'a default that thousands of schemas judge',
    () =>
      definitionWith({
        a: {
          ...TEXT,
          default: 'x'.repeat(10_000),
          allOf: many(2000, (at) => ({ pattern: `^(x*)*${at}?$` })),
        },
      }),
    [201, 422],
  ),
  define('5,000 columns', () =>
    definitionWith(
      {},
      {
        additionalPrinterColumns: many(5000, (at) => ({
          name: `c${at}`,
          type: 'string',
          jsonPath: `.spec.a[?(@.b=="${at}")]`,
        })),
      },
    ),
  ),
  define('1,000 versions', () => {
    const definition = definitionOf({ plural: 'widgets', kind: 'Widget' });
    const [first] = definition.spec?.versions ?? [];
    const { spec } = definition;
    if (spec !== undefined)
      spec.versions = many(1000, (at) => ({ ...first, name: `v${at + 1}`, storage: at === 0 }));
    return definition;
  }),
  create('20,000 members of a set', () => ({ set: many(20_000, (at) => `m${at}`) })),
  create('20,000 equal members of a set', () => ({ set: many(20_000, () => 'm') }), [422]),
  create('15,000 items with keys', () => ({ keyed: many(15_000, (at) => ({ name: `n${at}` })) })),
  create('20,000 items of which none fits', () => ({ either: many(20_000, () => ({})) }), [422]),
  create('a pattern and a long text', () => ({ pattern: `${'a'.repeat(1_000_000)}!` }), [422]),
  create(
    'a pattern for each of 20,000 texts',
    () => ({ patterns: many(20_000, (at) => `a-b.c${at}-`) }),
    [422],
  ),
  create('16,000 fields', () => ({ many: fieldsOf(16_000, () => ({ x: 1 })) })),
  create('20,000 fields that no schema has', () => fieldsOf(20_000, () => 1)),
  create('a rule for each of 20,000 items', () => ({ ruled: many(20_000, (at) => `r${at}`) })),
  create(
    'a rule that compares 400 items with each other',
    () => ({ compared: many(400, (at) => `r${at}`) }),
    [422],
  ),
  create(
    'rules that take the characters of a long text',
    () => ({ spelled: '\u{1f600}'.repeat(250_000) }),
    [422],
  ),
  create('5,000 embedded objects', () => ({
    embedded: many(5000, (at) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `p${at}` } })),
  })),
  create('one field of three megabytes', () => ({ free: { a: 'x'.repeat(2_900_000) } })),
  create('45,000 values that no schema describes', () => ({ free: { a: many(45_000, (at) => at) } })),
];
