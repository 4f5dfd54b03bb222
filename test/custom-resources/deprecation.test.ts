import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { toStoredJson } from '../../src/codec/stored-object.ts';
import type { ConversionParts } from '../../src/custom-resources/conversion/webhook-converter.ts';
import { CustomResource } from '../../src/custom-resources/custom-resource.ts';
import { definitionOf } from '../kit/definitions.ts';

const types = loadTypes();
/** No definition here has one. */
const NO_WEBHOOK = {} as ConversionParts;
const GROUP = 'stable.example.com';

interface Version {
  readonly name: string;
  readonly deprecated?: boolean;
  readonly served?: boolean;
  readonly deprecationWarning?: string;
}

/** The warning for clients of the first version. */
function warningOf(...versions: Version[]): string | undefined {
  const definition = definitionOf({ plural: 'widgets', kind: 'Widget' });
  const [first] = definition.spec?.versions ?? [];
  if (definition.spec !== undefined)
    definition.spec.versions = versions.map((one, at) => ({ ...first, storage: at === 0, ...one }));
  const parts = { types, ratchets: true, conversion: NO_WEBHOOK };
  return new CustomResource(toStoredJson(definition), parts).definitions()[0]?.custom?.deprecation;
}

const old = { name: 'v1beta1', deprecated: true };

test.each<[string, Version[], string | undefined]>([
  ['nothing, where it is not deprecated', [{ name: 'v1beta1' }, { name: 'v1' }], undefined],
  ['what the definition says', [{ ...old, deprecationWarning: 'go' }, { name: 'v1' }], 'go'],
  ['no more, where there is no later one', [old, { name: 'v1alpha1' }], ''],
  [
    'no more, where later ones are not served, or deprecated too',
    [old, { name: 'v1', served: false }, { name: 'v2', deprecated: true }],
    '',
  ],
  [
    'the latest of those to use',
    [old, { name: 'v1beta2' }, { name: 'v1' }, { name: 'v2' }],
    `; use ${GROUP}/v2 Widget`,
  ],
])('the warning for clients of a version says %s', (_, versions, ending) => {
  const full =
    ending?.startsWith(';') || ending === '' ? `${GROUP}/v1beta1 Widget is deprecated${ending}` : ending;
  expect(warningOf(...versions)).toBe(full);
});
