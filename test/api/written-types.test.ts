import { expect, expectTypeOf, test } from 'vitest';
import type { CompiledTypes } from '../../src/api/idl/compiled.ts';
import { addTaken, parseSameAs, unchanged } from '../../src/api/idl/same-as.ts';
import { writeTypes } from '../../src/api/idl/write-types.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { ApiObject } from '../../src/api/object-meta.ts';
import type { Deployment } from '../../src/api/types/apps/v1.ts';

const types: CompiledTypes = {
  'shop/v1.Basket': {
    typed: true,
    fields: [
      { name: 'metadata', type: 'meta/v1.ObjectMeta', number: 1 },
      { name: 'fruit', type: 'shop/v1.Fruit', number: 2, repeated: true },
      { name: 'since', type: 'Time', number: 3 },
      { name: 'until', type: 'Time', number: 4, pointer: true },
      { name: 'prices', type: 'IntOrString', number: 5, map: true },
      { name: 'x-size', type: 'shop/v2.Size', number: 6, inline: true },
    ],
  },
  'shop/v1.Fruit': { fields: [{ name: 'weight', type: 'int64', number: 1, repeated: true }] },
  'shop/v2.Size': { fields: [{ name: 'of', type: 'shop/v2.Fruit', number: 1 }] },
  'shop/v2.Fruit': { fields: [] },
};

const docs = { 'shop/v1.Fruit': { description: 'Eat it. */', fields: { weight: 'In grams.' } } };

test('a message becomes a type with its fields as decoding leaves them', () => {
  const [module] = writeTypes(types, docs);
  expect(module).toEqual({
    path: 'shop/v1.ts',
    source: `// Written from src/api/idl/shop/v1.proto by the build. Change that file, not this one.

import type { ObjectMeta } from '../meta/v1.ts';
import type { Fruit as ShopV2Fruit } from './v2.ts';

export type Basket = {
  kind: string;
  apiVersion: string;
  metadata: ObjectMeta;
  fruit?: Fruit[];
  since?: string | null;
  until?: string;
  prices?: { [key: string]: number | string };
  of?: ShopV2Fruit;
};

/** Eat it. *\\/ */
export type Fruit = {
  /** In grams. */
  weight?: (number | bigint)[];
};
`,
  });
});

test('a message that is the same in another version is exported from there', () => {
  const taken: CompiledTypes = {
    'shop/v1.Fruit': { fields: [{ name: 'weight', type: 'int32', number: 1 }] },
    'shop/v1.Basket': { fields: [{ name: 'fruit', type: 'shop/v1.Fruit', number: 1 }] },
    'shop/v1.Shop': { fields: [{ name: 'baskets', type: 'shop/v1.Basket', number: 1 }] },
    'shop/v2.Basket': { fields: [{ name: 'fruit', type: 'shop/v2.Fruit', number: 1, repeated: true }] },
  };
  const origins = addTaken(parseSameAs('shop/v2', 'shop.v1: Fruit, Shop'), taken);
  expect(taken['shop/v2.Shop']?.fields[0]?.type).toBe('shop/v2.Basket');
  expect([...unchanged(origins, taken)]).toEqual(['shop/v2.Fruit']);
  const modules = writeTypes(taken, {}, new Map([['shop/v2.Fruit', 'shop/v1.Fruit']]));
  expect(
    modules[1]?.source,
  ).toBe(`// Written from src/api/idl/shop/v2.proto by the build. Change that file, not this one.

import type { Fruit } from './v1.ts';

export type { Fruit } from './v1.ts';

export type Basket = {
  fruit?: Fruit[];
};

export type Shop = {
  baskets?: Basket;
};
`);
});

test('a message that another version has not, or that a file declares itself, cannot be taken from there', () => {
  const has = (...names: string[]): CompiledTypes =>
    Object.fromEntries(names.map((name) => [name, { fields: [] }]));
  const take = parseSameAs('shop/v2', 'shop.v1: Fruit');
  expect(() => addTaken(take, has('shop/v1.Basket'))).toThrow(
    'shop/v2: same_as names Fruit, which shop/v1 has not',
  );
  expect(() => addTaken(take, has('shop/v1.Fruit', 'shop/v2.Fruit'))).toThrow('declares itself');
});

test('a type of the API is an object like any other, and a misspelt field of it does not compile', () => {
  expectTypeOf<Deployment>().toExtend<ApiObject>();
  expectTypeOf<Deployment>().toExtend<JsonObject>();
  expectTypeOf<NonNullable<Deployment['spec']>>().toHaveProperty('strategy');
  expectTypeOf<NonNullable<Deployment['spec']>>().not.toHaveProperty('stragety');
});
