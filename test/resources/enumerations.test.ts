import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonValue } from '../../src/api/object-meta.ts';
import type { MessageSchema, ValueSchema } from '../../src/api/schema.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { validateObject } from '../../src/verbs/writing/prepare-write.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';
import { gatesIn } from '../kit/manifests.ts';

const types = loadTypes();

/** `[0]` for the item of a list, `[key]` for the entry of a map. */
type Step = string;
interface Enumerated {
  readonly steps: readonly Step[];
  readonly values: readonly string[];
}

/** Every field below a type that the IDL enumerates, but for metadata and status. */
function* enumerated(schema: MessageSchema, steps: Step[], seen: MessageSchema[]): Iterable<Enumerated> {
  for (const { name, value } of schema.fields.values()) {
    if (steps.length === 0 && (name === 'metadata' || name === 'status')) continue;
    const [inner, here] = unwrapped(value, [...steps, name]);
    if (inner.kind === 'message') {
      if (!seen.includes(inner.message)) yield* enumerated(inner.message, here, [...seen, inner.message]);
    } else if ('enum' in inner && inner.enum !== undefined) yield { steps: here, values: inner.enum };
  }
}

function unwrapped(value: ValueSchema, steps: Step[]): [ValueSchema, Step[]] {
  if (value.kind === 'list') return unwrapped(value.items, [...steps, '[0]']);
  return value.kind === 'map' ? unwrapped(value.values, [...steps, '[key]']) : [value, steps];
}

const holding = (steps: readonly Step[], value: JsonValue): JsonValue =>
  steps.reduceRight<JsonValue>((inner, step) => {
    if (step === '[0]') return [inner];
    return { [step === '[key]' ? 'key' : step]: inner };
  }, value);

const pathOf = (steps: readonly Step[]): string => steps.join('.').replaceAll('.[', '[');

/** The values that the answer to a wrong one calls supported, for each error at its place. */
function supported(definition: ResourceDefinition, steps: readonly Step[]): string[] {
  const base = { kind: definition.kind, apiVersion: 'v1', metadata: { name: 'it' } };
  const object = Object.assign(base, holding(steps, 'Bogus')) as ApiObject;
  // Before 1.34, Kubernetes takes any template of a stateful set.
  const judging = definition.resource === 'statefulsets' ? { isOn: gatesIn(34) } : {};
  return validateObject(definition, object, types, judging)
    .filter(({ type, field }) => type === 'FieldValueNotSupported' && field === pathOf(steps))
    .map(({ message }) => sorted(JSON.parse(`[${message.split('supported values: ')[1] ?? ''}]`)));
}

const sorted = (values: readonly string[]): string => [...values].sort().join(' ');

/** Where Kubernetes, and validation here, says something else than the description of the type. */
const OTHERWISE: readonly (readonly [place: RegExp, said: readonly string[]])[] = [
  // A rule of the whole list, or of what the entry lies in, speaks first.
  [/accessModes\[0\]$|^resourcequotas spec\.scopes\[0\]|^nodes spec\.taints/, []],
  [/volumeClaimTemplates\[0\]\.status\.allocatedResourceStatuses/, []],
  // The common parts of all versions are reported at their place inside of Kubernetes.
  [/^customresourcedefinitions .*x-kubernetes-validations\[0\]\.reason/, []],
  // Values that the type knows, but that may not be written.
  [/^services spec\.ipFamilies/, ['IPv4 IPv6']],
  [/^storageclasses reclaimPolicy/, ['Delete Retain']],
  [/webhooks\[0\]\.sideEffects/, ['None NoneOnDryRun']],
  // A second rule narrows the first.
  [/^(cronjobs|jobs) .*spec\.restartPolicy/, ['Always Never OnFailure', 'Never OnFailure']],
  [
    /^(daemonsets|deployments|replica\w+|statefulsets) .*spec\.restartPolicy/,
    ['Always Never OnFailure', 'Always'],
  ],
];

test('validation and the IDL name the same values of every enumeration', () => {
  const differing: string[] = [];
  let count = 0;
  for (const definition of BUILT_IN_RESOURCES)
    for (const { steps, values } of enumerated(types.message(definition.storage.type), [], [])) {
      count += 1;
      const place = `${definition.resource} ${pathOf(steps)}`;
      const expected = OTHERWISE.find(([pattern]) => pattern.test(place))?.[1] ?? [sorted(values)];
      const said = supported(definition, steps);
      if (JSON.stringify(said) !== JSON.stringify(expected))
        differing.push(`${place}: ${JSON.stringify(said)}`);
    }
  expect(count).toBeGreaterThan(500);
  expect(differing).toEqual([]);
});
