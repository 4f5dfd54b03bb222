import { expect, expectTypeOf, test } from 'vitest';
import type { CompiledTypes } from '../../src/api/idl/compiled.ts';
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

test('a type of the API is an object like any other, and a misspelt field of it does not compile', () => {
  expectTypeOf<Deployment>().toExtend<ApiObject>();
  expectTypeOf<Deployment>().toExtend<JsonObject>();
  expectTypeOf<NonNullable<Deployment['spec']>>().toHaveProperty('strategy');
  expectTypeOf<NonNullable<Deployment['spec']>>().not.toHaveProperty('stragety');
});
